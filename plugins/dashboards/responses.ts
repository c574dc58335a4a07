/** Responses of the area's routes. The screens take their types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { CREATED_AT, field, instantText, orNull, Paged, UPDATED_AT } from "#plugin"
import type { Board, BoardFilter, Config, StoredWidget } from "./board.ts"
import { CompareInput, RangeInput } from "./ranges.ts"

const text = (description: string) => t.String({ description })
const count = (description: string) => t.Integer({ minimum: 0, description })

export const FilterInput = t.Unsafe<BoardFilter>(
  t.Object(
    {
      dimension: text("Name of the dimension."),
      property: t.Optional(text("Key of the property. Only for the dimension `property`.")),
      operator: t.Optional(text("Operator. Default: `is`.")),
      values: t.Array(t.Any({ description: "A value. For segments and cohorts, an id." }), {
        description: "Values, any of which may match.",
      }),
    },
    { additionalProperties: false, description: "A filter of the flat form." },
  ),
)
export const FiltersInput = t.Array(FilterInput, { maxItems: 10, description: "Filters on all widgets, all of which must match." })

const Visibility = t.Union([t.Literal("private"), t.Literal("site")], {
  description: "`private` is visible to the owner only, `site` to everyone with access to the site.",
})

const BOARD = {
  id: count("Id of the dashboard. 0 is the built-in Overview."),
  name: text("Name of the dashboard."),
  description: text("Description."),
  visibility: Visibility,
  owner: orNull(t.Object({ id: field.id("Id of the user."), name: text("Name of the user.") }), {
    description: "Owner of the dashboard. null for Overview.",
  }),
  is_site_default: t.Boolean({ description: "Whether the dashboard is the default of the site." }),
  is_my_default: t.Boolean({ description: "Whether you chose the dashboard as your default." }),
  widget_count: count("Number of widgets."),
  can_edit: t.Boolean({ description: "Whether you can change the dashboard." }),
  shared: t.Boolean({ description: "Whether the dashboard has a public link that works." }),
  version: field.integer("Version of the dashboard, which increases with each change."),
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
}
export const BoardRow = t.Object(BOARD, { title: "DashboardRow" })
export type BoardRow = Static<typeof BoardRow>

export const BoardList = t.Object(
  {
    ...Paged(BoardRow).properties,
    default_dashboard_id: count("Id of the dashboard that opens first: your default, otherwise that of the site, otherwise 0."),
  },
  { title: "DashboardList" },
)

export const WidgetResponse = t.Object(
  {
    id: field.id("Id of the widget, which it keeps when the dashboard is saved."),
    type: text("Type of the widget, from the catalogue."),
    title: text("Title. Empty for the title of the type."),
    x: count("First column, from 0."),
    y: count("First row, from 0."),
    w: count("Number of columns."),
    h: count("Number of rows."),
    source_site_id: orNull(field.integer("Id of the site."), {
      description: "Site whose figures are shown. null for the site of the dashboard.",
    }),
    source_site: t.Optional(
      t.Object(
        { name: text("Name of the site. Empty if it is not known.") },
        { description: "Site that was not found when the dashboard was imported. Absent otherwise." },
      ),
    ),
    config: t.Unsafe<Config>(
      t.Object(
        {},
        {
          additionalProperties: true,
          description: "Configuration. An object `{name}` instead of an id is an object that was not found when the dashboard was copied.",
        },
      ),
    ),
    available: t.Boolean({ description: "Whether the type is known and its plugin is on." }),
  },
  { title: "DashboardWidget" },
)
export type WidgetResponse = Static<typeof WidgetResponse>

export const BoardResponse = t.Object(
  {
    ...BOARD,
    range: RangeInput,
    filters: FiltersInput,
    refresh_s: count("Seconds between two updates in full screen. 0 turns them off."),
    widgets: t.Array(WidgetResponse, { description: "Widgets by id." }),
  },
  { title: "Dashboard" },
)
export type BoardResponse = Static<typeof BoardResponse>

export const formatWidget = ({ source_site_name, ...widget }: StoredWidget, available: boolean): WidgetResponse => ({
  ...widget,
  ...(source_site_name !== null && { source_site: { name: source_site_name } }),
  available,
})

/** What a reader sees of a dashboard in addition to its own fields. */
export type Sight = Pick<BoardRow, "owner" | "is_site_default" | "is_my_default" | "widget_count" | "can_edit" | "shared">

export const formatRow = (board: Board, sight: Sight): BoardRow => ({
  id: board.id,
  name: board.name,
  description: board.description,
  visibility: board.visibility,
  ...sight,
  version: board.version,
  created_at: instantText(board.created_at),
  updated_at: instantText(board.updated_at),
})

const WidgetError = t.Object(
  {
    code: text(
      "Code: `broken_reference`, `forbidden`, `site_not_found`, `identity_insufficient`, `query_timeout`, `unsupported_combination` or `internal_error`.",
    ),
    detail: text("Explanation."),
  },
  { additionalProperties: true, description: "Error with the members of its code. Present only with `error`." },
)

export const WidgetResult = t.Object(
  {
    status: t.Union([t.Literal("ok"), t.Literal("error"), t.Literal("unavailable")], {
      description: "`unavailable` if the type is unknown, its plugin is off, or a public link must not show the widget.",
    }),
    data: t.Optional(
      t.Any({ description: "Response of the report that the widget shows, as its own route returns it. Present only with `ok`." }),
    ),
    meta: t.Optional(
      t.Object(
        {},
        { additionalProperties: true, description: "Facts for reading the figures, such as `visitor_window`. Present only with `ok`." },
      ),
    ),
    error: t.Optional(WidgetError),
  },
  { title: "DashboardWidgetResult" },
)
export type WidgetResult =
  | { status: "ok"; data: object; meta: object }
  | { status: "error"; error: { code: string; detail: string; [member: string]: unknown } }
  | { status: "unavailable" }

export const ResolvedRange = t.Object(
  {
    from: text("First day, YYYY-MM-DD."),
    to: text("Last day (inclusive), YYYY-MM-DD."),
    timezone: text("IANA time zone of the days."),
    includes_today: t.Boolean({ description: "Whether the range includes the current day." }),
  },
  { description: "Range of the widgets that have none of their own." },
)

export const DataResponse = t.Object(
  {
    results: t.Unsafe<Record<string, WidgetResult>>(
      t.Record(t.String(), WidgetResult, { description: "Result of each widget by its id. Each widget fails alone." }),
    ),
    range: ResolvedRange,
    generated_at: field.instant("Time of the response."),
  },
  { title: "DashboardData" },
)
export type DataResponse = Static<typeof DataResponse>

export const DataInput = t.Object(
  {
    range: t.Optional(RangeInput),
    filters: t.Optional(FiltersInput),
    compare: t.Optional(CompareInput),
    widgets: t.Optional(t.Array(t.Integer({ minimum: 1 }), { description: "Ids of the widgets to compute. Default: all." })),
  },
  { additionalProperties: false, title: "DashboardDataInput" },
)

export const CatalogueRow = t.Object(
  {
    type: text("Type of the widget."),
    title: text("Name of the type."),
    description: text("What the widget shows."),
    size: t.Object(
      { min_w: count("Minimum width."), min_h: count("Minimum height."), w: count("Usual width."), h: count("Usual height.") },
      { description: "Size in cells of a grid with 12 columns." },
    ),
    config_schema: t.Any({ description: "JSON Schema of the configuration, without the overrides that every type accepts." }),
    data_schema: t.Any({ description: "JSON Schema of the widget's data." }),
    needs: text("Permission that a viewer needs."),
    shareable: t.Boolean({ description: "Whether public links of this site show the widget." }),
    plugin: text("Id of the plugin."),
    available: t.Boolean({ description: "Whether the plugin is on." }),
  },
  { title: "DashboardWidgetType" },
)
export type CatalogueRow = Static<typeof CatalogueRow>
export const Catalogue = t.Object({ data: t.Array(CatalogueRow, { description: "All types." }) }, { title: "DashboardWidgetTypes" })

const Unmapped = t.Object(
  {
    widget: orNull(count("Index of the widget in the order of the copy."), {
      description: "Index of the widget. null for a filter of the dashboard.",
    }),
    kind: text("Kind of the object, such as `goal`."),
    name: text("Name that was not found."),
  },
  { title: "UnmappedReference" },
)

export const DuplicateResponse = t.Object(
  {
    results: t.Array(
      t.Object({
        site_id: field.integer("Id of the target site, as sent."),
        dashboard: t.Optional(t.Object(BoardResponse.properties, { description: "The copy. Absent if there is none." })),
        unmapped: t.Array(Unmapped, { description: "Objects that the target site does not have. Their widgets show an error." }),
        error: t.Optional(
          t.Object(
            { code: text("Error code."), detail: text("Explanation.") },
            { description: "Why there is no copy on this site. Absent otherwise." },
          ),
        ),
      }),
      { description: "One result per target, in the order sent." },
    ),
  },
  { title: "DuplicateDashboardResult" },
)
export type DuplicateResponse = Static<typeof DuplicateResponse>

export const ImportResponse = t.Object(
  {
    dashboard: t.Object(BoardResponse.properties, { description: "The new dashboard." }),
    mapping: t.Array(
      t.Object({
        widget: orNull(count("Index of the widget in the document."), {
          description: "Index of the widget. null for a filter of the dashboard.",
        }),
        reference: t.Object(
          { kind: text("Kind of the object, such as `goal`."), name: text("Name in the document.") },
          { description: "Object that the document names." },
        ),
        found: t.Boolean({ description: "Whether the site has it." }),
      }),
      { description: "All objects that the document names." },
    ),
  },
  { title: "ImportedDashboard" },
)
export type ImportResponse = Static<typeof ImportResponse>
