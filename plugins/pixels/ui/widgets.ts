/** Panels of the area's widgets on dashboards. */
export default { pixel_opens: () => import("./opens-panel.tsx") }
