/** The plugins of this program, in the order in which they are set up. Deleting one is deleting its folder and its lines here. */
import type { AnyPlugin } from "#plugin"
import admin from "./admin/admin.ts"
import cohorts from "./cohorts/cohorts.ts"
import dashboards from "./dashboards/dashboards.ts"
import imports from "./imports/imports.ts"
import integrations from "./integrations/integrations.ts"
import links from "./links/links.ts"
import pixels from "./pixels/pixels.ts"
import revenue from "./revenue/revenue.ts"

export const plugins: readonly AnyPlugin[] = [admin, cohorts, dashboards, imports, integrations, links, pixels, revenue]
