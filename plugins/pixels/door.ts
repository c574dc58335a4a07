import { type Asked, type Counters, isClean, type ListedSender, type Site, unescaped } from "#plugin"
import type { Cache } from "./cache.ts"
import { type ImageKind, imageAnswer } from "./images.ts"
import type { Orphans } from "./orphans.ts"
import { LIMITS, OPEN_EVENT, type Pixel, type PixelsHost, paramKey } from "./pixel.ts"
import { isProxied, type Via, viaOf } from "./via.ts"

interface EndpointOptions {
  cache: Cache
  orphans: Orphans
  counters: Pick<Counters, "soon">
  /** First word of the paths. */
  prefix: string
  /** Whether a mail service loads ahead from there; undefined: nobody knows. */
  isRelay: ListedSender | undefined
}

/** What a path below the prefix asks for; undefined for what is no picture of ours. */
interface Wanted {
  slug: string
  image: ImageKind
}

/**
 * Answers requests for pixels: always with a picture, and with the same one at the same cost whether the pixel is there or not,
 * for a reader must not see that it is gone. The picture goes out first; what is to be remembered is stored afterwards.
 */
export function createEndpoint(host: PixelsHost, { cache, orphans, counters, prefix, isRelay }: EndpointOptions) {
  /** Undefined for what is unknown, deleted or archived, also together with its site. */
  function known(slug: string): { pixel: Pixel; site: Site } | undefined {
    const pixel = cache.at(slug)
    const site = pixel && host.services.sites.directory.byId(pixel.site_id)
    return pixel && site && pixel.archived_at === null ? { pixel, site } : undefined
  }

  function serve(asked: Asked, { slug, image }: Wanted): Response | Promise<Response> {
    const found = known(slug)
    const { method } = asked.request
    const opens = found?.pixel.badge_public ? found.pixel.opens_total : undefined
    const answer = imageAnswer(image, { opens, isHead: method === "HEAD" })
    if (method !== "GET") return answer
    try {
      const noted = note(asked, found)
      return noted ? noted.then(() => answer) : answer
    } catch (error) {
      host.log.error("an open could not be recorded", { error })
      return answer
    }
  }

  /**
   * Records an open. Returns a promise that the image has to wait for: before the first recipient of a site is known, because its key has
   * to be read, and when too many opens wait for the disk.
   */
  function note(asked: Asked, found: ReturnType<typeof known>): Promise<void> | undefined {
    // Also of what is unknown, which must not be answered sooner.
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
    const record = (hashed?: string): Promise<void> | undefined => {
      counters.soon(site.id)
      return host.recordLater(asked, site, { name: OPEN_EVENT, props: propsOf(pixel, { via, query, hashed }), proxied: isProxied(via) })
    }
    if (recipient === undefined) return record()
    const hash = host.siteHash(site.id)
    if (typeof hash === "function") return record(hash(recipient))
    return hash.then(
      (learned) => record(learned(recipient)),
      (error) => {
        host.log.warn("an open is recorded without its recipient", { error })
        return record()
      },
    )
  }

  return function answer(asked: Asked, path: string): Response | Promise<Response> {
    const wanted = wantedIn(path.slice(prefix.length + 2))
    if (!wanted) return new Response("This address does not exist.\n", { status: 404, headers: PLAIN })
    const loading = cache.ready()
    if (!loading) return serve(asked, wanted)
    return loading.then(
      () => serve(asked, wanted),
      (error) => {
        host.log.error("pixels could not be read; an open is lost", { error })
        return imageAnswer(wanted.image, { opens: undefined, isHead: asked.request.method === "HEAD" })
      },
    )
  }
}

const PLAIN = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", "x-content-type-options": "nosniff" }

function wantedIn(rest: string): Wanted | undefined {
  const [, slug = "", ending = ""] = /^([^/]+?)(\.gif|\.png|\/badge\.svg)?$/i.exec(unescaped(rest)) ?? []
  if (slug === "") return undefined
  const image = ({ ".png": "png", "/badge.svg": "badge" } as const)[ending.toLowerCase()] ?? "gif"
  return { slug, image }
}

/** Read by hand: a host that no URL can have must not cost the picture. */
function queryOf({ url }: Request): URLSearchParams {
  const mark = url.indexOf("?")
  return new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1).split("#")[0])
}

/** Undefined for none. Only its hash is ever kept. */
function recipientIn(query: URLSearchParams): string | undefined {
  const recipient = query.get("r")?.trim() ?? ""
  return recipient === "" ? undefined : recipient.slice(0, LIMITS.recipientChars)
}

/** What is kept of a request: of its parameters those that the pixel names, the first of each name. */
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
