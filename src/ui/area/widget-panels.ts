import type { ComponentType } from "preact"
import { widgetPanels } from "../../../plugins/widget-panels.ts"
import { lazyPart } from "../parts/loading.ts"

/** What a panel draws: the answer of its widget, and the part of the configuration that says how. */
export interface WidgetPanelProps {
  data: unknown
  config: Readonly<Record<string, unknown>>
  /** Title of the widget, as an accessible name. */
  title: string
  /** Site whose figures are shown. Undefined for viewers of a public link. */
  siteId: number | undefined
}

/** Panels of a plugin by the type of the widget. They are in the bundle of public links too, so they load nothing for members only. */
export type WidgetPanels = Readonly<Record<string, () => Promise<{ default: ComponentType<WidgetPanelProps> }>>>

const panels = new Map(Object.entries(widgetPanels).map(([type, load]) => [type, lazyPart(load)]))

/** Returns the panel that a plugin draws for a type of widget. */
export const widgetPanel = (type: string): ComponentType<WidgetPanelProps> | undefined => panels.get(type)
