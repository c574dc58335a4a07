/** Imports: historical data from other products and log files, exactly, visibly and reversibly. */
import { definePlugin } from "#plugin"
import type { Area, ImportsHost } from "./area.ts"
import { COMMANDS, commandsOf } from "./commands.ts"
import { beginDemo } from "./demo.ts"
import { ERRORS } from "./errors.ts"
import { createFormat } from "./format.ts"
import { createHolders } from "./holders.ts"
import { createImports } from "./lifecycle.ts"
import createTables from "./migrations/0001_imports.sql" with { type: "text" }
import createRejects from "./migrations/0001_rejects.sql" with { type: "text" }
import addStreams from "./migrations/0002_streams.sql" with { type: "text" }
import addRefunds from "./migrations/0003_refunds.sql" with { type: "text" }
import { createPreviews } from "./preview.ts"
import { EVENTS } from "./product-events.ts"
import { importerRoutes, importRoutes } from "./routes.ts"
import { createDataApi } from "./run/fetching/data-api.ts"
import { createFetching } from "./run/fetching/fetching.ts"
import { createRuns } from "./run/run.ts"
import { Settings } from "./settings.ts"
import { createStaging } from "./staging.ts"
import { createStreams } from "./streams/streams.ts"
import { countOverdueDays, endImports, jobsOf, removeSite, retainDays } from "./upkeep.ts"
import { uploadRoutes } from "./upload-routes.ts"
import { createUploads } from "./uploads.ts"

export default definePlugin({
  id: "imports",
  title: "Imports",
  paths: { site: ["imports"], instance: ["importers"] },
  pages: ["/sites/:site/imports", "/sites/:site/imports/new", "/sites/:site/imports/:import"],
  permissions: { "imports:read": "viewer", "imports:write": "editor" },
  commands: COMMANDS,
  migrations: [
    { name: "0001_imports", sql: createTables },
    { name: "0002_streams", sql: addStreams },
    { name: "0003_refunds", sql: addRefunds },
  ],
  rowMigrations: [{ name: "0001_rejects", sql: createRejects }],
  errors: ERRORS,
  events: EVENTS,
  settings: Settings,
  setup(host: ImportsHost) {
    const area = createArea(host)
    return {
      routes: [importerRoutes(area), uploadRoutes(area), importRoutes(area)],
      commands: commandsOf(area),
      jobs: jobsOf(area),
      beginDemo: (demo) => beginDemo(area, demo),
      onSiteDelete: (siteId) => removeSite(area, siteId),
      onRetention: (siteId, cutoffDay) => retainDays(area, siteId, cutoffDay),
      onVisitsErase: async (siteId, removed) => ("all" in removed ? { imports: await endImports(area, siteId) } : {}),
      countOverdue: (siteId, cutoffDay) => countOverdueDays(area, siteId, cutoffDay),
    }
  },
})

/** Creates the parts of the plugin. */
export function createArea(host: ImportsHost): Area {
  const staging = createStaging(host)
  const holders = createHolders(host)
  const uploads = createUploads(host, staging)
  const streams = createStreams(host)
  const previews = createPreviews(host, { holders, staging, streams })
  const fetching = createFetching(host, createDataApi(host))
  const runs = createRuns(host, { fetching, holders, previews, staging, streams })
  const imports = createImports(host, { fetching, holders, previews, runs, staging, streams, uploads })
  return { host, staging, uploads, streams, previews, holders, runs, imports, format: createFormat(host, staging) }
}
