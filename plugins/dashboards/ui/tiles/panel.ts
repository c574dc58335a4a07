import type { WidgetPanelProps } from "#plugin/ui"
import type { Config } from "../../board.ts"

/** What the panels of the core's widgets draw. */
export interface PanelProps extends WidgetPanelProps {
  /** Facts for reading the figures. */
  meta: object
}

/** A widget as its tile draws it. */
export interface ShownWidget {
  id: number
  type: string
  title: string
  x: number
  y: number
  w: number
  h: number
  config: Config
}
