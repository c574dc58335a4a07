/** Panels of the area's widgets on dashboards. */
export default { revenue: () => import("./panel.tsx") }
