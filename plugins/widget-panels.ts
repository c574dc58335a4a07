/**
 * What the plugins' widgets look like on dashboards, in the browser. Apart from `pages.ts`, because viewers of public links load these
 * panels too.
 */
import type { WidgetPanels } from "../src/ui/area/widget-panels.ts"
import cohorts from "./cohorts/ui/widgets.ts"
import integrations from "./integrations/ui/widgets.ts"
import links from "./links/ui/widgets.ts"
import pixels from "./pixels/ui/widgets.ts"
import revenue from "./revenue/ui/widgets.ts"

export const widgetPanels: WidgetPanels = { ...cohorts, ...integrations, ...links, ...pixels, ...revenue }
