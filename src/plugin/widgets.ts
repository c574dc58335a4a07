import type { Static, TObject, TSchema } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { type Fault, refuseFaults } from "../domain/error.ts"
import type { Permissions } from "../domain/permission.ts"
import { inspect } from "../domain/shape.ts"
import type { Site } from "../domain/site.ts"
import type { ReportOptions } from "../services/stats/open-report.ts"
import { pluginFault } from "./check.ts"
import type { SetUpPlugin } from "./contract.ts"

/** Request for a widget: a site, and flat arguments (range, filters, comparison) as for reports. */
export interface WidgetQuestion {
  site: Site
  given: Readonly<Record<string, unknown>>
  /** Viewer with permissions and the fixed arguments of a shared view. */
  asking: ReportOptions
}

export interface WidgetAnswer {
  data: object
  /** Services for reading data. */
  meta?: object
}

/** Card of a saved dashboard (areas/03 section 2). */
export interface Widget<Config extends TObject = TObject> {
  title: string
  description: string
  /** Size in cells of a grid with 12 columns. */
  size: { min_w: number; min_h: number; w: number; h: number }
  /** Configuration in addition to range, filters and comparison. */
  config: Config
  /** Permission on the site that viewers need. */
  needs: string
  /** Dimensions by which the widget can be filtered. `all` includes properties, segments and cohorts. */
  filter_dimensions: readonly string[] | "all"
  /**
   * Dimensions of which a filter limits everything that the widget shows, so that it can be locked on a shared dashboard. On one with
   * any other locked filter the widget is unavailable. Default: `filter_dimensions`.
   */
  lock_dimensions?: readonly string[] | "all"
  /** Returns whether viewers of a shared dashboard can see the widget on this site. */
  shareable(site: Site): boolean
  /** Schema of the data. */
  answer: TSchema
  /** Returns the faults of a configuration that its schema cannot state, when a dashboard is saved. */
  check?(config: Readonly<Record<string, unknown>>, pointer: string): Fault[]
  /** Returns the data of the widget. `config` is already validated. An `AppError` affects only this card. */
  resolve(question: WidgetQuestion, config: Static<Config>): Promise<WidgetAnswer>
}

/** Returns the widget unchanged. Only adds the type. */
export const defineWidget = <Config extends TObject>(widget: Widget<Config>): Widget => widget as unknown as Widget // the host validates the config before it calls `resolve`

/** Returns whether a widget can be filtered by a dimension. */
export const canFilter = ({ filter_dimensions: known }: Pick<Widget, "filter_dimensions">, dimension: string): boolean =>
  known === "all" || known.includes(dimension)

/** Returns whether a widget keeps a locked filter of a dimension in everything that it shows. */
export const canLock = (
  { filter_dimensions, lock_dimensions = filter_dimensions }: Pick<Widget, "filter_dimensions" | "lock_dimensions">,
  dimension: string,
): boolean => canFilter({ filter_dimensions: lock_dimensions }, dimension)

/** Widget with its plugin. Widgets of disabled plugins are not available. */
export interface KnownWidget extends Widget {
  type: string
  plugin: string
  isAvailable(): boolean
}

/** Adds defaults and validates the config. Throws `validation_failed` with all problems, below `/config`. */
function checkingConfig({ config: schema, resolve }: Widget): Widget["resolve"] {
  return async (question, config) => {
    const { fields, faults } = inspect(schema, Value.Default(schema, structuredClone(config)), "/config")
    refuseFaults(faults)
    return resolve(question, fields)
  }
}

export interface WidgetRules {
  /** Permissions of the core and of all plugins. */
  permissions: Permissions
}

const COLUMNS = 12
const ROWS = 12

/** Collects the widgets of all plugins in the order of the list. Throws the fault of the first faulty widget. */
export function allWidgets(plugins: readonly SetUpPlugin[], { permissions }: WidgetRules): KnownWidget[] {
  const known: KnownWidget[] = []
  for (const { id, isOn, contribution } of plugins) {
    for (const [type, widget] of Object.entries(contribution.widgets ?? {})) {
      const fault = faultOf(type, widget, permissions)
      const other = known.find((each) => each.type === type)
      if (fault !== undefined) throw pluginFault(id, `the widget ${type} ${fault}`)
      if (other) throw pluginFault(id, `the widget ${type} is already taken by the plugin ${other.plugin}`)
      known.push({ ...widget, type, plugin: id, isAvailable: isOn, resolve: checkingConfig(widget) })
    }
  }
  return known
}

function faultOf(type: string, { title, size, needs }: Widget, permissions: Permissions): string | undefined {
  const { min_w, min_h, w, h } = size
  if (!/^[a-z]+(_[a-z]+)*$/.test(type)) return "must have a type of lower-case letters and underscores"
  if (title.trim() === "") return "has no title"
  if (!Object.hasOwn(permissions, needs)) return `needs the undeclared permission ${needs}`
  const isWhole = [min_w, min_h, w, h].every(Number.isInteger)
  if (!isWhole || min_w < 1 || min_h < 1 || w < min_w || h < min_h || w > COLUMNS || h > ROWS)
    return `does not fit a dashboard of ${COLUMNS} columns and cards of at most ${ROWS} rows`
  return undefined
}
