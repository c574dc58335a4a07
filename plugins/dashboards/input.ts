/** Bodies of the area's routes. All faults of a body are reported at once. */
import { type Static, type TSchema, Type as t } from "@sinclair/typebox"
import { type Fault, fault, inspect, isObject, readFilterList, refuseFaults } from "#plugin"
import { type BoardFields, type BoardFilter, type Config, DEFAULTS, LIMITS, REFRESH_SECONDS } from "./board.ts"
import { RangeInput, readRange, type Today } from "./ranges.ts"
import { mapReferences } from "./references.ts"
import { FiltersInput } from "./responses.ts"

const closed = { additionalProperties: false } as const
const Name = t.String({ minLength: 1, maxLength: LIMITS.nameChars, description: "Name of the dashboard. It need not be unique." })
const Description = t.String({ maxLength: LIMITS.descriptionChars, description: "Description. Default: empty." })
const VisibilityInput = t.Union([t.Literal("private"), t.Literal("site")], {
  description: "`private` (default) is visible to you only, `site` to everyone with access to the site.",
})
const RefreshInput = t.Unsafe<number>(
  t.Integer({ enum: [...REFRESH_SECONDS], description: "Seconds between two updates in full screen. Default: 0, off." }),
)
const Version = t.Integer({ minimum: 1, description: "Version that the change is based on." })

export const WidgetInput = t.Object(
  {
    id: t.Optional(t.Integer({ minimum: 1, description: "Id of a widget of the dashboard, which it keeps. Default: a new widget." })),
    type: t.String({ minLength: 1, maxLength: 64, description: "Type from the catalogue." }),
    title: t.Optional(t.String({ maxLength: LIMITS.titleChars, description: "Title. Default: empty, the title of the type." })),
    x: t.Integer({ minimum: 0, maximum: LIMITS.columns - 1, description: "First column, from 0. `x` and `w` add up to at most 12." }),
    y: t.Integer({ minimum: 0, maximum: LIMITS.maxY, description: "First row, from 0." }),
    w: t.Integer({ minimum: 1, maximum: LIMITS.columns, description: "Number of columns." }),
    h: t.Integer({ minimum: 1, maximum: LIMITS.maxHeight, description: "Number of rows." }),
    source_site_id: t.Optional(
      t.Union([t.Integer({ minimum: 1 }), t.Null()], {
        description: "Another site whose figures are shown. Default: null, the site itself.",
      }),
    ),
    config: t.Optional(t.Unsafe<Config>(t.Object({}, { additionalProperties: true, description: "Configuration. Default: empty." }))),
  },
  closed,
)
/** A widget of a body whose configuration is not checked yet. */
export type SentWidget = Required<Omit<Static<typeof WidgetInput>, "id">> & { id?: number }

const WidgetsInput = t.Array(WidgetInput, { maxItems: LIMITS.widgets, description: "Widgets. They must not overlap." })
const FIELDS = {
  name: Name,
  description: Description,
  visibility: VisibilityInput,
  range: RangeInput,
  filters: FiltersInput,
  refresh_s: RefreshInput,
}
const { name: _, ...OPTIONAL } = FIELDS
export const BoardInput = t.Object(
  {
    name: Name,
    ...t.Partial(t.Object(OPTIONAL)).properties,
    widgets: t.Optional(WidgetsInput),
    template: t.Optional(
      t.Union([t.Literal("marketing"), t.Literal("content"), t.Literal("product"), t.Integer({ minimum: 0 })], {
        description: "Template, or id of a dashboard of the site to copy widgets, range and filters from. Excludes `widgets`.",
      }),
    ),
  },
  { ...closed, title: "DashboardInput" },
)
export const BoardReplacement = t.Object(
  { ...FIELDS, widgets: WidgetsInput, version: Version },
  { ...closed, title: "DashboardReplacement" },
)
export const BoardPatch = t.Object(t.Partial(t.Object({ ...FIELDS, version: Version })).properties, { ...closed, title: "DashboardPatch" })
export const PreviewInput = t.Object({ widgets: WidgetsInput }, { ...closed, title: "DashboardPreview" })

/** Set by the server, and ignored so that the body of a GET can be sent back. */
const READ_ONLY = ["owner", "is_site_default", "is_my_default", "widget_count", "can_edit", "shared"]
const READ_ONLY_WIDGET = ["available", "source_site"]

const without = (value: Record<string, unknown>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

/** Fields that readers of their own check, or that must not be normalized. */
const OWN_READERS = ["range", "filters", "refresh_s", "widgets", "template"]

export interface ReadBody {
  fields: Partial<BoardFields>
  widgets: SentWidget[] | undefined
  version: number | undefined
  template: Static<typeof BoardInput>["template"]
}

/** Reads a body by its schema. The configurations of widgets, and what filters refer to, are checked later. */
export function readBody(
  schema: typeof BoardInput | typeof BoardReplacement | typeof BoardPatch | typeof PreviewInput,
  body: unknown,
  today: Today,
): ReadBody {
  const sent = isObject(body) ? without(body, READ_ONLY) : body
  const properties = schema.properties as Record<string, TSchema> // the schemas have different fields
  const isRequired = (name: string) => (schema.required as readonly string[] | undefined)?.includes(name) === true
  const anything = (name: string): TSchema => (isRequired(name) ? t.Any() : t.Optional(t.Any()))
  const loose = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, OWN_READERS.includes(name) ? anything(name) : field]),
  )
  const shallow = isObject(sent)
    ? { ...sent, ...Object.fromEntries(OWN_READERS.filter((name) => sent[name] !== undefined).map((name) => [name, 0])) }
    : sent
  const { fields, faults } = inspect(t.Object(loose, closed), shallow)
  const given = isObject(sent) ? sent : {}
  const { name, description, visibility, version } = fields as Partial<BoardFields> & Pick<ReadBody, "version">
  const read: Partial<BoardFields> = {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(visibility !== undefined && { visibility }),
    ...("range" in loose && given.range !== undefined && { range: readRange(given.range, "/range", today, faults) }),
    ...("filters" in loose && given.filters !== undefined && { filters: readFilters(given.filters, "/filters", faults) }),
    ...("refresh_s" in loose && given.refresh_s !== undefined && { refresh_s: readRefresh(given.refresh_s, faults) }),
  }
  const widgets = "widgets" in loose && given.widgets !== undefined ? readWidgets(given.widgets, faults) : undefined
  const template = "template" in loose && given.template !== undefined ? readTemplate(given.template, faults) : undefined
  if (template !== undefined && widgets !== undefined)
    faults.push(fault("/template", "unsupported_combination", "cannot be combined with widgets"))
  refuseFaults(faults)
  return { fields: read, widgets, version, template }
}

const TEMPLATES = ["marketing", "content", "product"] as const

function readTemplate(value: unknown, faults: Fault[]): ReadBody["template"] {
  const found = TEMPLATES.find((name) => name === value)
  if (found !== undefined) return found
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value
  const code = typeof value === "string" ? "invalid_choice" : "invalid_type"
  faults.push(fault("/template", code, `must be ${TEMPLATES.join(", ")} or the id of a dashboard`, TEMPLATES))
  return undefined
}

function readRefresh(value: unknown, faults: Fault[]): number {
  const found = REFRESH_SECONDS.find((seconds) => seconds === value)
  if (found === undefined)
    faults.push(
      fault(
        "/refresh_s",
        typeof value === "number" ? "invalid_choice" : "invalid_type",
        `must be ${REFRESH_SECONDS.join(", ")}`,
        REFRESH_SECONDS,
      ),
    )
  return found ?? 0
}

/**
 * Reads filters of the flat form. Segments and cohorts are not looked up, and their ids become numbers. Faults are added to `faults`.
 */
export function readFilters(value: unknown, pointer: string, faults: Fault[]): BoardFilter[] {
  const { faults: found } = readFilterList(value, pointer, () => ({ op: "and", filters: [] }))
  faults.push(...found)
  if (found.length > 0 || !Array.isArray(value)) return []
  return mapReferences(value as BoardFilter[], ({ value: id }) => id) // checked above
}

/** Reads the widgets of a body without their configurations. Faults are added to `faults`. */
function readWidgets(value: unknown, faults: Fault[]): SentWidget[] {
  if (!Array.isArray(value)) {
    faults.push(fault("/widgets", "invalid_type", "must be a list"))
    return []
  }
  if (value.length > LIMITS.widgets) {
    faults.push(fault("/widgets", "too_many", `must have at most ${LIMITS.widgets} items`, { min: 0, max: LIMITS.widgets }))
    return []
  }
  const { config: _, ...PLACE } = WidgetInput.properties
  const ids = new Set<number>()
  return value.map((item, i) => {
    const pointer = `/widgets/${i}`
    const { config = {}, ...place } = isObject(item) ? without(item, READ_ONLY_WIDGET) : { config: undefined, item }
    const found = inspect(t.Object(PLACE, closed), isObject(item) ? place : item, pointer)
    faults.push(...found.faults)
    const { id, x = 0, y = 0, w = 1, h = 1, type = "", title = "", source_site_id = null } = found.fields
    if (!isObject(config)) faults.push(fault(`${pointer}/config`, "invalid_type", "must be an object"))
    else refuseLarge(config, pointer, faults)
    if (x + w > LIMITS.columns) faults.push(fault(`${pointer}/w`, "out_of_range", `and x must add up to at most ${LIMITS.columns}`))
    if (id !== undefined && ids.has(id)) faults.push(fault(`${pointer}/id`, "not_unique", "is used more than once"))
    if (id !== undefined) ids.add(id)
    return { ...(id !== undefined && { id }), type, title, x, y, w, h, source_site_id, config: isObject(config) ? config : {} }
  })
}

/** Refuses a configuration that is too large. A text has a limit of its own. */
function refuseLarge({ markdown: _, ...config }: Config, pointer: string, faults: Fault[]): void {
  if (Buffer.byteLength(JSON.stringify(config)) > LIMITS.configBytes)
    faults.push(fault(`${pointer}/config`, "too_long", `must have at most ${LIMITS.configBytes} bytes as JSON`))
}

/** Returns the complete fields of a new dashboard. */
export const completeFields = (fields: Partial<BoardFields>): BoardFields => ({ ...DEFAULTS, ...fields }) as BoardFields // with a name, or rejected

export const OrderInput = t.Object(
  { ids: t.Array(t.Integer({ minimum: 0 }), { maxItems: 200, uniqueItems: true, description: "Ids of dashboards in your order." }) },
  { ...closed, title: "DashboardOrder" },
)
export const DefaultInput = t.Object(
  {
    dashboard_id: t.Union([t.Integer({ minimum: 0 }), t.Null()], {
      description: "Id of the dashboard. 0 is Overview, null removes the default.",
    }),
    scope: t.Union([t.Literal("me"), t.Literal("site")], { description: "`me` is your own default, `site` that of the site." }),
  },
  { ...closed, title: "DefaultDashboard" },
)
export const DuplicateInput = t.Object(
  {
    name: t.Optional(Name),
    target_site_ids: t.Optional(
      t.Array(t.Integer({ minimum: 1 }), {
        minItems: 1,
        maxItems: LIMITS.targets,
        uniqueItems: true,
        description: "Ids of the sites that get a copy. Default: this site.",
      }),
    ),
  },
  { ...closed, title: "DuplicateDashboard" },
)

/** Reads a body whose schema says everything. Throws `validation_failed` with all faults. */
export function readWhole<Schema extends typeof OrderInput | typeof DefaultInput | typeof DuplicateInput>(
  schema: Schema,
  body: unknown,
): Static<Schema> {
  const { fields, faults } = inspect(schema, body)
  refuseFaults(faults)
  return fields as Static<Schema> // complete, or rejected above
}
