"use strict";
(() => {
	const charts = JSON.parse(document.getElementById("data").textContent);
	const places = [...document.querySelectorAll(".chart")];
	const height = 240, paper = 640;
	let plots = [];

	const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const number = v => v == null ? "" : v.toLocaleString("en", {maximumSignificantDigits: 5});

	// The curves of a chart have steps of their own: what the legend shows at a step
	// is the point of each curve that is nearest to it.
	const nearest = (plot, series, i) => {
		const values = plot.data[series];
		for (let d = 0; d < values.length; d++) {
			if (values[i - d] != null) return i - d;
			if (values[i + d] != null) return i + d;
		}
		return i;
	};

	// A label has one color in all charts.
	const labels = [...new Set(charts.flatMap(chart => chart.curves.map(curve => curve.label)))].sort();

	const seriesOf = curve => {
		const stroke = color("--curve-" + labels.indexOf(curve.label) % 6);
		const value = (plot, v) => v == null ? "–" : number(v);
		if (curve.validated) return [{label: curve.label, stroke, value, width: 2, dash: [6, 3], points: {show: true, size: 6, fill: stroke}}];
		if (!curve.smooth) return [{label: curve.label, stroke, value, width: 1.5}];
		return [
			{label: curve.label, stroke: stroke + "55", value, width: 1, points: {show: false}},
			{label: curve.label + ", smoothed", stroke, value, width: 2, points: {show: false}},
		];
	};

	const plotOf = (chart, place, width) => {
		const axis = {stroke: color("--faint"), font: "12px system-ui, sans-serif", grid: {stroke: color("--line"), width: 1}, ticks: {stroke: color("--line"), width: 1}};
		const label = (plot, splits) => splits.map(number);
		const tables = chart.curves.map(c => c.smooth ? [c.steps, c.values, c.smooth] : [c.steps, c.values]);
		const options = {
			width, height,
			scales: {x: {time: false}, y: {distr: chart.logarithmic ? 3 : 1}},
			series: [{label: "step", value: (plot, v) => v == null ? "–" : number(v)}, ...chart.curves.flatMap(seriesOf)],
			axes: [
				{...axis, values: label, space: 70},
				{...axis, values: label, size: (plot, labels) => 18 + 7 * Math.max(2, ...(labels ?? []).map(l => l.length))},
			],
			cursor: {dataIdx: nearest, drag: {x: true, y: true, uni: 20}, sync: {key: "step", scales: ["x", null]}},
		};
		return new uPlot(options, uPlot.join(tables), place);
	};

	const draw = width => {
		plots.forEach(plot => plot.destroy());
		plots = charts.map((chart, i) => plotOf(chart, places[i], width ?? places[i].clientWidth));
	};

	draw();
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
	const resized = new ResizeObserver(() => plots.forEach((plot, i) => {
		if (plot.width !== places[i].clientWidth) plot.setSize({width: places[i].clientWidth, height});
	}));
	places.forEach(place => resized.observe(place));

	// What is printed is drawn for light paper, whatever the screen is like.
	addEventListener("beforeprint", () => {
		document.documentElement.classList.add("paper");
		draw(paper);
	});
	addEventListener("afterprint", () => {
		document.documentElement.classList.remove("paper");
		draw();
	});
})();
