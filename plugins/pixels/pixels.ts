/**
 * Tracking pixels: images that count how often an email, a feed, a README or another page is opened, with an explanation of what an
 * open means. A request always gets its image and is recorded afterwards. Opens are not included in the metrics of the site.
 */
import { type Counters, definePlugin, movePositions, type Removed, type Site, type Trash } from "#plugin"
import { type Cache, createCache } from "./cache.ts"
import { beginDemo } from "./demo.ts"
import { ERRORS } from "./errors.ts"
import { urlOf } from "./images.ts"
import createPixels from "./migrations/0001_pixels.sql" with { type: "text" }
import positions from "./migrations/0002_positions.sql" with { type: "text" }
import { LIMITS, OPEN_EVENT, type Pixel, type PixelsHost } from "./pixel.ts"
import { createPixelList } from "./pixel-list.ts"
import { createPixelWrites } from "./pixel-writes.ts"
import { createReports } from "./reports.ts"
import { formatPixel } from "./responses.ts"
import { memberRoutes } from "./routes.ts"
import { addOpens, deleteOrphansBefore, type NewOpens, namedPixels, pixelTrash } from "./rows.ts"
import { createEndpoint, createOrphans, dayOf } from "./serving.ts"
import { Settings } from "./settings.ts"
import { widgetsOf } from "./widgets.ts"

export default definePlugin({
  id: "pixels",
  title: "Tracking pixels",
  paths: { site: ["pixels"], open: [{ setting: "prefix" }] },
  pages: ["/sites/:site/pixels", "/sites/:site/pixels/:pixel"],
  permissions: { "pixels:read": "viewer", "pixels:write": "editor" },
  moveRows: (tables, move) => movePositions(tables, "pixels_positions", move),
  migrations: [
    { name: "0001_pixels", sql: createPixels },
    { name: "0002_positions", sql: positions },
  ],
  errors: ERRORS,
  records: { [OPEN_EVENT]: { title: "Pixel open", kind: "opens" } },
  settings: Settings,
  async setup(host: PixelsHost) {
    const prefix = host.settings.prefix.replace(/^\//, "")
    const urlOfPixel = (pixel: Pixel): string => urlOf(host.baseUrl(), prefix, pixel)
    const show = (pixel: Pixel) => formatPixel(urlOfPixel(pixel), pixel)
    const cache = createCache(host.db)
    await cache.begin()
    const orphans = createOrphans(host.db, host.now)
    const counters = pixelCounters(host, cache)
    const trash = pixelTrash(host)
    const reports = createReports(host)
    const pixels = createPixelWrites(host, { cache, trash, show })
    const isRelay = await host.addressList("relays")
    async function count(signal?: AbortSignal): Promise<void> {
      await orphans.flush()
      await cache.ready()
      await counters.run(signal)
    }
    return {
      routes: [memberRoutes(host, { pixels, reports, list: createPixelList(host, reports, show), urlOf: urlOfPixel, show })],
      endpoints: [{ at: prefix, answer: createEndpoint(host, { cache, orphans, counters, prefix, isRelay }) }],
      jobs: {
        // Each node counts the opens of its own store.
        [COUNT_JOB]: { interrupted: "resume", onDisk: true, schedule: { cron: "17 * * * *" }, run: ({ signal }) => count(signal) },
        "remove-deleted": {
          interrupted: "resume",
          schedule: { cron: "40 3 * * *" },
          async run({ signal }) {
            await trash.purge(signal)
            await deleteOrphansBefore(host.db, dayOf(host.now() - LIMITS.orphanDays * 86_400_000))
          },
        },
      },
      widgets: widgetsOf(host),
      named: { pixel: namedPixels(host) },
      exporters: { pixels: (site) => exportedPixels(trash, site) },
      beginDemo: (demo) => beginDemo(host, { pixels, prefix }, demo),
      async onSiteDelete(siteId): Promise<Removed> {
        const removed = await trash.removeSite(siteId, (slice) => {
          for (const { id } of slice) cache.remove(id)
        })
        await counters.removeSite(siteId)
        return { pixels: removed }
      },
      stop: () => count(),
    }
  },
})

const COUNT_JOB = "fold-opens"

/** Lifetime counters of pixels. Opens by bots are in none of them. */
const pixelCounters = ({ counters }: PixelsHost, cache: Cache): Counters =>
  counters<Pixel, NewOpens>({
    kind: "opens",
    by: ["pixel_id", "via"],
    positions: "pixels_positions",
    job: COUNT_JOB,
    siteIds: cache.siteIds,
    sum(groups) {
      const sum = { total: 0, direct: 0, lastAt: 0 }
      for (const { values, count, lastAt } of groups) {
        const [, via] = values
        if (via === "bot") continue
        sum.total += count
        if (via === "direct") sum.direct += count
        sum.lastAt = Math.max(sum.lastAt, lastAt)
      }
      return sum
    },
    add: addOpens,
    committed(changed) {
      for (const { thing } of changed) cache.put(thing)
    },
  })

/** Yields the pixels of a site for its archive, without fields that have a meaning on this instance only. */
async function* exportedPixels(trash: Trash<Pixel>, site: Site): AsyncIterable<object> {
  for await (const pixel of trash.ofSite(site)) {
    const { url: _, created_by: __, version: ___, ...exported } = formatPixel("", pixel)
    yield exported
  }
}
