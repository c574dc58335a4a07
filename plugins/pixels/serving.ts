import { type Asked, type Counters, isClean, type ListedSender, type OwnTables, type Site, unescaped } from "#plugin"
import type { Cache } from "./cache.ts"
import { type ImageKind, imageAnswer } from "./images.ts"
import { LIMITS, OPEN_EVENT, type Pixel, type PixelsHost, paramKey } from "./pixel.ts"
import { addOrphans } from "./rows.ts"
import { isProxied, type Via, viaOf } from "./via.ts"

interface EndpointOptions {
  cache: Cache
  orphans: Orphans
  counters: Pick<Counters, "soon">
  /** First path segment of pixels, without slashes. */
  prefix: string
  /** Whether a mail service prefetches images from the address of a request. Undefined if no list of addresses is configured. */
  isRelay: ListedSender | undefined
}

/** The image that a path below the prefix refers to. */
interface ImagePath {
  slug: string
  image: ImageKind
}

/**
 * Answers requests for pixels, always with an image. Unknown pixels get the same image at the same cost as known ones, so that readers
 * cannot tell whether a pixel still exists. The image is sent first and the open is stored afterwards.
 */
export function createEndpoint(host: PixelsHost, { cache, orphans, counters, prefix, isRelay }: EndpointOptions) {
  /** Returns a pixel and its site. Undefined if one of them is unknown or deleted, or the pixel is archived. */
  function find(slug: string): { pixel: Pixel; site: Site } | undefined {
    const pixel = cache.at(slug)
    const site = pixel && host.services.sites.directory.byId(pixel.site_id)
    return pixel && site && pixel.archived_at === null ? { pixel, site } : undefined
  }

  function serve(asked: Asked, { slug, image }: ImagePath): Response | Promise<Response> {
    const found = find(slug)
    const { method } = asked.request
    const opens = found?.pixel.badge_public ? found.pixel.opens_total : undefined
    const answer = imageAnswer(image, { opens, isHead: method === "HEAD" })
    if (method !== "GET") return answer
    try {
      const pending = record(asked, found)
      return pending ? pending.then(() => answer) : answer
    } catch (error) {
      host.log.error("an open could not be recorded", { error })
      return answer
    }
  }

  /**
   * Records an open. Returns a promise that the image has to wait for: before the first recipient of a site is known, because its key has
   * to be read, and when too many opens wait for the disk.
   */
  function record(asked: Asked, found: ReturnType<typeof find>): Promise<void> | undefined {
    // Unknown pixels take the same path, so that they are not answered sooner.
    const sender = host.senderOf(asked)
    if (sender.isPrefetch) return undefined
    const userAgent = asked.request.headers.get("user-agent") ?? ""
    const via = viaOf({ userAgent, isBot: sender.isBot, isRelay: isRelay?.(asked) ?? false })
    if (!found) {
      orphans.note()
      return void counters.soon()
    }
    const { pixel, site } = found
    const query = queryOf(asked.request)
    const recipient = pixel.recipient_mode === "hashed" && !sender.objects ? recipientIn(query) : undefined
    const write = (hashed?: string): Promise<void> | undefined => {
      counters.soon(site.id)
      return host.recordLater(asked, site, { name: OPEN_EVENT, props: propsOf(pixel, { via, query, hashed }), proxied: isProxied(via) })
    }
    if (recipient === undefined) return write()
    const hash = host.siteHash(site.id)
    if (typeof hash === "function") return write(hash(recipient))
    return hash.then(
      (siteHash) => write(siteHash(recipient)),
      (error) => {
        host.log.warn("an open was recorded without its recipient", { error })
        return write()
      },
    )
  }

  return function answer(asked: Asked, path: string): Response | Promise<Response> {
    const wanted = parsePath(path.slice(prefix.length + 2))
    if (!wanted) return new Response("This URL does not exist.\n", { status: 404, headers: PLAIN })
    const loading = cache.ready()
    if (!loading) return serve(asked, wanted)
    return loading.then(
      () => serve(asked, wanted),
      (error) => {
        host.log.error("pixels could not be read, so an open was not recorded", { error })
        return imageAnswer(wanted.image, { opens: undefined, isHead: asked.request.method === "HEAD" })
      },
    )
  }
}

const PLAIN = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", "x-content-type-options": "nosniff" }

/** Returns undefined for a path that is not one of a pixel. */
function parsePath(rest: string): ImagePath | undefined {
  const [, slug = "", extension = ""] = /^([^/]+?)(\.gif|\.png|\/badge\.svg)?$/i.exec(unescaped(rest)) ?? []
  if (slug === "") return undefined
  const image = ({ ".png": "png", "/badge.svg": "badge" } as const)[extension.toLowerCase()] ?? "gif"
  return { slug, image }
}

/** Reads the query from the text, because `URL` would throw on a malformed host. */
function queryOf({ url }: Request): URLSearchParams {
  const mark = url.indexOf("?")
  return new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1).split("#")[0])
}

/** Returns the recipient, of which only a hash is stored. Undefined if there is none. */
function recipientIn(query: URLSearchParams): string | undefined {
  const recipient = query.get("r")?.trim() ?? ""
  return recipient === "" ? undefined : recipient.slice(0, LIMITS.recipientChars)
}

/** Returns the properties of an open: the first value of each parameter that the pixel stores. */
function propsOf(
  { id, allowed_params }: Pixel,
  { via, query, hashed }: { via: Via; query: URLSearchParams; hashed: string | undefined },
): Record<string, string | number> {
  const params = allowed_params.flatMap((name) => {
    const value = query.get(name) ?? ""
    return value !== "" && value.length <= LIMITS.valueChars && isClean(value) ? [[paramKey(name), value] as const] : []
  })
  return { pixel_id: id, via, ...(hashed !== undefined && { recipient: hashed }), ...Object.fromEntries(params) }
}

/** Requests for unknown pixels, counted in memory per UTC day because they belong to no site, and written by a job. */
export interface Orphans {
  note(): void
  flush(): Promise<void>
}

export function createOrphans(db: OwnTables, now: () => number): Orphans {
  let counts = new Map<string, number>()
  const add = (day: string, count: number): void => void counts.set(day, (counts.get(day) ?? 0) + count)
  return {
    note: () => add(dayOf(now()), 1),
    async flush() {
      const written = counts
      counts = new Map()
      if (written.size === 0) return
      try {
        await db.transaction(async (statements) => {
          for (const [day, count] of written) await addOrphans(statements, day, count)
        })
      } catch (error) {
        // Keep the counts for the next flush.
        for (const [day, count] of written) add(day, count)
        throw error
      }
    },
  }
}

/** Returns the UTC day of an instant, as YYYY-MM-DD. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
