import { defineWidget, type Widget } from "#plugin"
import type { CoreWidget } from "./core.ts"
import { FIGURES } from "./figures.ts"
import { REPORTS } from "./reports.ts"

export const CORE_WIDGETS: Readonly<Record<string, CoreWidget>> = { ...FIGURES, ...REPORTS }

/**
 * Returns the core widgets for the catalogue. Dashboards answer them by `run`, which shares reports between widgets; no other plugin
 * shows widgets.
 */
export const catalogueWidgets = (): Record<string, Widget> =>
  Object.fromEntries(
    Object.entries(CORE_WIDGETS).map(([type, { run: _, ...widget }]) => [
      type,
      defineWidget({
        ...widget,
        resolve: async () => {
          throw new Error(`The widget ${type} is answered by its dashboard`)
        },
      }),
    ]),
  )
