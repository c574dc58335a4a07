import { errorsOf, type PluginError } from "#plugin"

/** Error codes of saved dashboards. */
export const ERRORS = {
  dashboard_not_found: {
    status: 404,
    title: "The dashboard was not found",
    meaning: "The site has no dashboard with this id, or you don't have access to it. Private dashboards are visible to their owner only.",
  },
  widget_not_found: {
    status: 404,
    title: "The widget was not found",
    meaning: "The dashboard has no widget with this id. It may have been removed.",
  },
  read_only_dashboard: {
    status: 409,
    title: "The dashboard is read-only",
    meaning: "Overview is built in and can't be changed, deleted or shared. Duplicate it and change the copy.",
  },
  layout_overlap: {
    status: 422,
    title: "Widgets overlap",
    meaning: "Two widgets share cells of the grid. The member errors names both. Move or resize one of them.",
  },
  unknown_widget_type: {
    status: 422,
    title: "The widget type is unknown",
    meaning: "No plugin of this instance has a widget of this type. The catalogue lists the types.",
  },
  invalid_widget_config: {
    status: 422,
    title: "The configuration of a widget is not valid",
    meaning: "The configuration does not fit the schema of the widget type. The member errors points to the wrong fields.",
  },
  not_shared: {
    status: 422,
    title: "The dashboard is private",
    meaning: "Only dashboards with the visibility site, and Overview, can be the default of the site.",
  },
} as const satisfies Record<string, PluginError>

export const dashboardError = errorsOf(ERRORS)

export const boardNotFound = () => dashboardError("dashboard_not_found", "This dashboard doesn't exist, or you don't have access to it.")
export const widgetNotFound = () => dashboardError("widget_not_found", "The dashboard has no widget with this id.")
export const readOnlyBoard = () =>
  dashboardError("read_only_dashboard", "Overview is built in and can't be changed. Duplicate it and change the copy.")
