/**
 * Tracking pixels: pictures that tell how often a mail, a feed, a README or a foreign page was opened, and that say honestly
 * what an open means. A request always gets its picture; what it was is recorded afterwards, in no metric of the site.
 */
import { definePlugin } from "#plugin"
import { createCache } from "./cache.ts"
import { createDoor } from "./door.ts"
import { editingOf } from "./editing.ts"
import { createFolds, FOLD_JOB } from "./folds.ts"
import { listsOf } from "./lists.ts"
import createPixels from "./migrations/0001_pixels.sql" with { type: "text" }
import { createOrphans } from "./orphans.ts"
import { OPEN_EVENT, type Pixel, type PixelsHost } from "./pixel.ts"
import { removalOf } from "./removal.ts"
import { reportsOf } from "./reports.ts"
import { memberRoutes } from "./routes.ts"
import { Settings } from "./settings.ts"
import { shownPixel } from "./shown.ts"
import { urlOf as addressOf } from "./snippets.ts"

export default definePlugin({
  id: "pixels",
  title: "Tracking pixels",
  paths: { site: ["pixels"], open: [{ setting: "prefix" }] },
  pages: ["/sites/:site/pixels", "/sites/:site/pixels/:pixel"],
  permissions: { "pixels:read": "viewer", "pixels:write": "editor" },
  migrations: [{ name: "0001_pixels", sql: createPixels }],
  records: { [OPEN_EVENT]: { title: "Pixel open", kind: "opens" } },
  settings: Settings,
  async setup(host: PixelsHost) {
    const prefix = host.settings.prefix.replace(/^\//, "")
    const urlOf = (pixel: Pixel): string => addressOf(host.baseUrl(), prefix, pixel)
    const show = (pixel: Pixel) => shownPixel(urlOf(pixel), pixel)
    const cache = createCache(host.db)
    const orphans = createOrphans(host.db, host.now)
    const folds = createFolds(host, { cache, orphans })
    const reports = reportsOf(host)
    const editing = editingOf(host, cache, show)
    const removal = removalOf(host, cache)
    const isRelay = await host.addressList("relays")
    return {
      routes: [memberRoutes(host, { editing, reports, list: listsOf(host, reports, show), urlOf, show })],
      doors: [{ at: prefix, answer: createDoor(host, { cache, orphans, folds, prefix, isRelay }) }],
      jobs: {
        [FOLD_JOB]: { interrupted: "resume", schedule: { cron: "17 * * * *" }, run: ({ signal }) => folds.run(signal) },
        "remove-deleted": { interrupted: "resume", schedule: { cron: "40 3 * * *" }, run: ({ signal }) => removal.removeOld(signal) },
      },
      exporters: { pixels: (site) => removal.rows(site) },
      onSiteDelete: removal.removeSite,
      stop: () => folds.run(),
    }
  },
})
