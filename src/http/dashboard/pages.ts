import { DASHBOARD_PATHS, matchesPagePath } from "../../domain/dashboard-path.ts"
import type { AppError } from "../../domain/error.ts"
import { isGuestPath } from "../../domain/own-path.ts"
import type { SharePages } from "../../services/sharing/opening.ts"
import type { ShareVisits } from "../../services/sharing/share-visits.ts"
import type { RequestHandler } from "../collect/response.ts"
import { baseUrlFor, methodNotAllowed, notFound, problem, toFailure } from "../errors.ts"
import { type HeaderSets, requestId } from "../headers.ts"
import type { Origins } from "../private/origins.ts"
import { type BootOptions, firstView } from "./boot.ts"
import { ASSETS, FONT_PATH } from "./bundle.ts"
import { EMBED_SCRIPT_PATH, embedScript } from "./embed-script.ts"
import { dashboardFiles, freshDashboardFiles } from "./files.ts"

export interface PagesOptions extends BootOptions {
  baseUrl: string
  /** Whether the dashboard uses HTTPS. */
  isSecure: boolean
  headers: Pick<HeaderSets, "page" | "asset">
  origins: Pick<Origins, "refuseHost">
  shareVisits: Pick<ShareVisits, "opening">
  /** Returns the paths of the pages of enabled plugins. */
  pluginPages(): readonly string[]
  /** Pages of the shares of all plugins, including disabled ones. */
  pluginSharePages: readonly SharePages[]
}

const METHODS = ["GET", "HEAD"]
/** Preloads the font, so that text is not drawn twice. */
const FONT = `<${FONT_PATH}>; rel=preload; as=font; type="font/woff2"; crossorigin`
const THEMES = ["auto", "light", "dark"]
const THEME_SECONDS = 365 * 86_400

/** Request handlers of the dashboard. All pages are the same document, whose script reads the address. */
export interface DashboardHandlers {
  /** Returns the handler of a page or a file, or undefined for other paths. */
  handlerFor(path: string): RequestHandler | undefined
  /** Returns a handler that responds with 404 and the page for unknown addresses. */
  notFound(path: string): RequestHandler
}

/** Creates the request handlers of the dashboard. */
export function dashboardHandlers(options: PagesOptions): DashboardHandlers {
  const { headers, baseUrl, origins } = options
  const refuseMethod = (request: Request): Response | undefined =>
    METHODS.includes(request.method)
      ? undefined
      : problem(methodNotAllowed(METHODS), baseUrlFor(request, baseUrl), {
          ...headers.asset,
          "x-request-id": requestId(request),
          allow: METHODS.join(", "),
        })

  const sharePages: readonly SharePages[] = [
    { paths: ["/share/s/:slug"], opening: options.shareVisits.opening },
    ...options.pluginSharePages,
  ]

  const pageHandler = (path: string, { status = 200, shared }: { status?: number; shared?: SharePages } = {}): RequestHandler => {
    return async (request) => {
      try {
        origins.refuseHost(request)
        return refuseMethod(request) ?? (await page(request, path, { ...options, status, shared }))
      } catch (thrown) {
        const id = requestId(request)
        return refusalPage(toFailure(thrown, id, options.log), { ...headers.page(), "x-request-id": id })
      }
    }
  }

  function handlerFor(path: string): RequestHandler | undefined {
    // Most requests of programs have this prefix. They need no comparison with the paths of all pages.
    if (path.startsWith("/api/")) return undefined
    if (path.startsWith(ASSETS)) {
      return async (request) => {
        const own = { ...headers.asset, "x-request-id": requestId(request) }
        return refuseMethod(request) ?? (await (await dashboardFiles()).answer(path, request, own)) ?? fileNotFound(request, options)
      }
    }
    if (path === EMBED_SCRIPT_PATH)
      return async (request) => refuseMethod(request) ?? embedScript({ ...headers.asset, "x-request-id": requestId(request) })
    const shared = path.startsWith("/share/") ? sharePages.find(({ paths }) => matchesPagePath(paths, path)) : undefined
    if (shared) return pageHandler(path, { shared })
    return matchesPagePath(DASHBOARD_PATHS, path) || matchesPagePath(options.pluginPages(), path) ? pageHandler(path) : undefined
  }

  return { handlerFor, notFound: (path) => pageHandler(path, { status: 404 }) }
}

interface PageOptions extends PagesOptions {
  status: number
  /** The kind of share to which the page belongs. */
  shared: SharePages | undefined
}

async function page(request: Request, path: string, options: PageOptions): Promise<Response> {
  const { headers, cookie, shared } = options
  const files = await freshDashboardFiles()
  const { boot, person, status: foundStatus } = await firstView(request, path, options)
  // The third segment is the slug.
  const embedOrigins = shared ? await shared.opening.embedOrigins(path.split("/")[3] ?? "", request.method === "GET") : []
  const found = embedOrigins ? foundStatus : 404
  const theme = person?.user.theme ?? themeOf(request, options)
  const shell = boot.setup_needed || isGuestPath(path) || (!person && !shared) ? files.guest : shared ? files.share : files.shell
  const answer = new Response(
    withBoot(shell, { ...boot, build: files.build, ...(embedOrigins?.length && { embed_origins: embedOrigins }) }, theme),
    {
      status: found === 200 ? options.status : found,
      headers: {
        ...headers.page(embedOrigins),
        "content-type": "text/html; charset=utf-8",
        link: FONT,
        "x-request-id": requestId(request),
      },
    },
  )
  if (shared) answer.headers.set("x-robots-tag", "noindex")
  if (person?.renewedToken !== undefined) {
    const left = Math.floor((person.session.expires_at - options.now()) / 1_000)
    answer.headers.append("set-cookie", cookie.header(person.renewedToken, left))
  }
  // Stores the theme in the browser, whose sign-in page then uses the theme of the last user.
  if (person?.user.theme && person.user.theme !== themeOf(request, options))
    answer.headers.append("set-cookie", themeLine(person.user.theme, options))
  return answer
}

/** Inserts the boot data and the theme into the page. `<` is escaped, because it could end the script element. */
function withBoot([before, after]: readonly [string, string], boot: object, theme: string): string {
  const json = JSON.stringify(boot).replaceAll("<", "\\u003c")
  const themed = before.replace('<html lang="en">', `<html lang="en" data-theme="${theme}">`)
  return `${themed}<script type="application/json" id="boot">${json}</script>${after}`
}

const themeCookie = ({ isSecure }: PagesOptions): string => (isSecure ? "__Host-theme" : "theme")

function themeOf(request: Request, options: PagesOptions): string {
  const theme = new Bun.CookieMap(request.headers.get("cookie") ?? "").get(themeCookie(options))
  return theme && THEMES.includes(theme) ? theme : "auto"
}

const themeLine = (theme: string, options: PagesOptions): string =>
  new Bun.Cookie(themeCookie(options), theme, {
    httpOnly: true,
    secure: options.isSecure,
    sameSite: "lax",
    path: "/",
    maxAge: THEME_SECONDS,
  }).serialize()

const fileNotFound = (request: Request, { headers, baseUrl }: PagesOptions): Response =>
  problem(notFound(), baseUrlFor(request, baseUrl), { ...headers.asset, "x-request-id": requestId(request) })

/**
 * Creates an error page for people who typed an address. It loads no other files, because under a wrong host name or while the
 * service stops they could not be loaded either.
 */
export function refusalPage(failure: AppError, headers: Readonly<Record<string, string>>): Response {
  const { status, headers: own } = problem(failure, "", headers)
  own.set("content-type", "text/html; charset=utf-8")
  return new Response(PAGE.replace("TEXT", Bun.escapeHTML(failure.message)), { status, headers: own })
}

const PAGE = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Footfall</title></head>
  <body><main><h1>This page cannot be shown</h1><p>TEXT</p></main></body>
</html>
`
