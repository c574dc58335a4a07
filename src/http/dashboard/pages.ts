import { DASHBOARD_PATHS, matchesPagePath } from "../../domain/dashboard-path.ts"
import type { AppError } from "../../domain/error.ts"
import { isGuestPath } from "../../domain/own-path.ts"
import type { ShareVisits } from "../../services/sharing/share-visits.ts"
import type { RequestHandler } from "../collect/response.ts"
import { baseUrlFor, methodNotAllowed, notFound, problem, toFailure } from "../errors.ts"
import { type HeaderSets, requestId } from "../headers.ts"
import type { Origins } from "../private/origins.ts"
import { type BootOptions, firstView } from "./boot.ts"
import { ASSETS, FONT_PATH } from "./bundle.ts"
import { dashboardFiles, freshDashboardFiles } from "./files.ts"

export interface PagesOptions extends BootOptions {
  baseUrl: string
  /** Whether the dashboard is reached by https. */
  isSecure: boolean
  headers: Pick<HeaderSets, "page" | "asset">
  origins: Pick<Origins, "refuseHost">
  shareVisits: Pick<ShareVisits, "embedOrigins">
  /** Addresses of pages that plugins bring, of those that are switched on. */
  pluginPages(): readonly string[]
}

const METHODS = ["GET", "HEAD"]

/** Asked for at once: text is never drawn twice. */
const FONT = `<${FONT_PATH}>; rel=preload; as=font; type="font/woff2"; crossorigin`

const THEMES = ["auto", "light", "dark"]

const THEME_SECONDS = 365 * 86_400

/** Every page of the dashboard is the same one: its script reads the address. */
export interface DashboardHandlers {
  /** For a page or a file; undefined for any other path. */
  handlerFor(path: string): RequestHandler | undefined
  /** Tells somebody who typed an address that nothing is there, as 404; programs get a problem. */
  missing(path: string): RequestHandler
}

export function dashboardHandlers(options: PagesOptions): DashboardHandlers {
  const { headers, baseUrl, origins } = options
  const refused = (request: Request): Response | undefined =>
    METHODS.includes(request.method)
      ? undefined
      : problem(methodNotAllowed(METHODS), baseUrlFor(request, baseUrl), {
          ...headers.asset,
          "x-request-id": requestId(request),
          allow: METHODS.join(", "),
        })

  const shown = (path: string, wanted = 200): RequestHandler => {
    return async (request) => {
      try {
        origins.refuseHost(request)
        return refused(request) ?? (await page(request, path, { ...options, wanted }))
      } catch (thrown) {
        const id = requestId(request)
        return refusalPage(toFailure(thrown, id, options.log), { ...headers.page(), "x-request-id": id })
      }
    }
  }

  function handlerFor(path: string): RequestHandler | undefined {
    // What programs ask most is not held against the address of every page.
    if (path.startsWith("/api/")) return undefined
    if (path.startsWith(ASSETS)) {
      return async (request) => {
        const own = { ...headers.asset, "x-request-id": requestId(request) }
        return refused(request) ?? (await (await dashboardFiles()).answer(path, request, own)) ?? noFile(request, options)
      }
    }
    return matchesPagePath(DASHBOARD_PATHS, path) || matchesPagePath(options.pluginPages(), path) ? shown(path) : undefined
  }

  return { handlerFor, missing: (path) => shown(path, 404) }
}

async function page(request: Request, path: string, options: PagesOptions & { wanted: number }): Promise<Response> {
  const { headers, cookie } = options
  const share = /^\/share\/s\/([^/]+)/.exec(path)?.[1]
  const files = await freshDashboardFiles()
  const { boot, person, status } = await firstView(request, path, options)
  const embedOrigins = share === undefined ? [] : await options.shareVisits.embedOrigins(share)
  const found = embedOrigins ? status : 404
  const theme = person?.user.theme ?? themeOf(request, options)
  const isGuest = boot.setup_needed || isGuestPath(path) || (!person && share === undefined)
  const answer = new Response(withBoot(isGuest ? files.guest : files.shell, { ...boot, build: files.build }, theme), {
    status: found === 200 ? options.wanted : found,
    headers: { ...headers.page(embedOrigins), "content-type": "text/html; charset=utf-8", link: FONT, "x-request-id": requestId(request) },
  })
  if (share !== undefined) answer.headers.set("x-robots-tag", "noindex")
  if (person?.renewedToken !== undefined) {
    const left = Math.floor((person.session.expires_at - options.now()) / 1_000)
    answer.headers.append("set-cookie", cookie.line(person.renewedToken, left))
  }
  // So that the sign-in page of the same browser has the theme of whoever signed in last.
  if (person?.user.theme && person.user.theme !== themeOf(request, options))
    answer.headers.append("set-cookie", themeLine(person.user.theme, options))
  return answer
}

/** Text with `<` in it would end the element. */
function withBoot([before, after]: readonly [string, string], boot: object, theme: string): string {
  const json = JSON.stringify(boot).replaceAll("<", "\\u003c")
  const themed = before.replace('<html lang="en">', `<html lang="en" data-theme="${theme}">`)
  return `${themed}<script type="application/json" id="boot">${json}</script>${after}`
}

const themeCookie = ({ isSecure }: PagesOptions): string => (isSecure ? "__Host-theme" : "theme")

function themeOf(request: Request, options: PagesOptions): string {
  const wanted = new Bun.CookieMap(request.headers.get("cookie") ?? "").get(themeCookie(options))
  return wanted && THEMES.includes(wanted) ? wanted : "auto"
}

const themeLine = (theme: string, options: PagesOptions): string =>
  new Bun.Cookie(themeCookie(options), theme, {
    httpOnly: true,
    secure: options.isSecure,
    sameSite: "lax",
    path: "/",
    maxAge: THEME_SECONDS,
  }).serialize()

const noFile = (request: Request, { headers, baseUrl }: PagesOptions): Response =>
  problem(notFound(), baseUrlFor(request, baseUrl), { ...headers.asset, "x-request-id": requestId(request) })

/**
 * A refusal for somebody who typed an address: the words of the problem, as a page. It loads nothing, because where it is
 * shown nothing else may answer: under a wrong host name, or while the service stops.
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
