/** Pages of the plugins, as the browser gets them. The list of the server is `index.ts`. */
import type { PluginPages } from "../src/ui/shell/plugin-pages.ts"
import admin from "./admin/ui/section.ts"
import cohorts from "./cohorts/ui/area.ts"
import dashboards from "./dashboards/ui/area.ts"
import imports from "./imports/ui/area.ts"
import integrations from "./integrations/ui/area.ts"
import links from "./links/ui/area.ts"
import pixels from "./pixels/ui/area.ts"
import revenue from "./revenue/ui/area.ts"

export const pages: readonly PluginPages[] = [admin, cohorts, dashboards, imports, links, pixels, revenue, integrations]
