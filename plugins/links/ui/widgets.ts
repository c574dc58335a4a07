/** Panels of the area's widgets on dashboards. */
export default { links_top: () => import("./top-links-panel.tsx") }
