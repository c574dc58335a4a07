/** Panels of the area's widgets on dashboards. */
export default { search_queries: () => import("./search/queries-panel.tsx") }
