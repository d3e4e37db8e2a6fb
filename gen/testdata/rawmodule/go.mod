module example.com/raw

go 1.26
