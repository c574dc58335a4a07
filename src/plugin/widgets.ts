import type { Static, TObject } from "@sinclair/typebox"
import type { Permissions } from "../domain/permission.ts"
import type { Site } from "../domain/site.ts"
import type { Asking } from "../services/open-report.ts"
import { pluginFault } from "./check.ts"
import type { AnyPlugin, Contribution } from "./contract.ts"

/** What a widget is asked for: a site, and arguments of the flat form (range, filters, comparison) as the statistics take them. */
export interface WidgetQuestion {
  site: Site
  given: Readonly<Record<string, unknown>>
  /** Who looks: what they may see, and what a shared view locks. */
  asking: Asking
}

export interface WidgetAnswer {
  data: object
  /** What is needed to read the numbers. */
  meta?: object
}

/** A card of a saved dashboard (areas/03 section 2). */
export interface Widget<Config extends TObject = TObject> {
  title: string
  description: string
  /** In cells of a board of 12 columns. */
  size: { min_w: number; min_h: number; w: number; h: number }
  /** What it is set up with beside range, filters and comparison. */
  config: Config
  /** The permission on the site that whoever looks must have. */
  needs: string
  /** Whether strangers with the address of a shared board may see it, on this site. */
  shareable(site: Site): boolean
  /** An `AppError` fails this card alone. */
  resolve(question: WidgetQuestion, config: Static<Config>): Promise<WidgetAnswer>
}

/** Gives the type, and nothing else. */
export const defineWidget = <Config extends TObject>(widget: Widget<Config>): Widget => widget as unknown as Widget // the config is checked before

/** A widget with whose it is. One of a plugin that is off is not available. */
export interface KnownWidget extends Widget {
  type: string
  plugin: string
  isAvailable(): boolean
}

const COLUMNS = 12
const ROWS = 12

/** The widgets of all plugins, in the order of the list. Throws what is wrong with the first one. */
export function allWidgets(
  contributions: readonly { id: AnyPlugin["id"]; contribution: Contribution }[],
  { permissions, isOn }: { permissions: Permissions; isOn(id: string): boolean },
): KnownWidget[] {
  const known: KnownWidget[] = []
  for (const { id, contribution } of contributions) {
    for (const [type, widget] of Object.entries(contribution.widgets ?? {})) {
      const fault = faultOf(type, widget, permissions)
      const other = known.find((each) => each.type === type)
      if (fault !== undefined) throw pluginFault(id, `the widget ${type} ${fault}`)
      if (other) throw pluginFault(id, `the widget ${type} is that of the plugin ${other.plugin} already`)
      known.push({ ...widget, type, plugin: id, isAvailable: () => isOn(id) })
    }
  }
  return known
}

function faultOf(type: string, { title, size, needs }: Widget, permissions: Permissions): string | undefined {
  const { min_w, min_h, w, h } = size
  if (!/^[a-z]+(_[a-z]+)*$/.test(type)) return "needs a type of small letters and underscores"
  if (title.trim() === "") return "has no title"
  if (!Object.hasOwn(permissions, needs)) return `needs ${needs}, which is no permission`
  const isWhole = [min_w, min_h, w, h].every(Number.isInteger)
  if (!isWhole || min_w < 1 || min_h < 1 || w < min_w || h < min_h || w > COLUMNS || h > ROWS)
    return `has no size on a board of ${COLUMNS} columns and at most ${ROWS} rows a card`
  return undefined
}
