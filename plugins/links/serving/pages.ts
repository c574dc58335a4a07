import { instantText } from "#plugin"
import type { Link } from "../link.ts"

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[sign]!)

const page = (title: string, body: string, head = ""): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${head}<title>${title}</title></head><body><main><h1>${title}</h1>${body}</main></body></html>`

const COMMON = { "content-type": "text/html; charset=utf-8", "x-content-type-options": "nosniff", "cache-control": "no-store" }
const POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
/** Headers of pages about a link. */
const OF_LINKS = { ...COMMON, "content-security-policy": POLICY, "x-robots-tag": "noindex", "referrer-policy": "no-referrer" }

/** The same for every slug. They contain nothing from the request. */
const NOT_FOUND = page("Not found", "<p>This link doesn't exist.</p>")
const GONE = page("Gone", "<p>This link is no longer available.</p>")

const plain = { ...COMMON, "content-security-policy": "default-src 'none'; frame-ancestors 'none'", "referrer-policy": "no-referrer" }
export const notFoundPage = (): Response => new Response(NOT_FOUND, { status: 404, headers: plain })
export const gonePage = (): Response => new Response(GONE, { status: 410, headers: plain })
export const otherMethod = (allow: string): Response => new Response(null, { status: 405, headers: { ...plain, allow } })

const FORM = `<form method="post"><p><label>Password <input type="password" name="password" required maxlength="256" autocomplete="current-password" autofocus></label> <button>Continue</button></p></form>`

/** The form for the password. Does not reveal the destination. */
export const passwordPage = (status: 200 | 403 = 200): Response =>
  new Response(page("Password", `${status === 403 ? '<p role="alert">The password is incorrect.</p>' : ""}${FORM}`), {
    status,
    headers: OF_LINKS,
  })

/**
 * Reloads the short URL with the cookie. Not a redirect, because browsers apply `form-action` of the page with the form to all redirects
 * that follow.
 */
export const unlockedPage = (cookie: string): Response =>
  new Response(page("Unlocked", '<p><a href="">Continue</a></p>', '<meta http-equiv="refresh" content="0">'), {
    headers: { ...OF_LINKS, "set-cookie": cookie },
  })

/** Shows the destination instead of redirecting to it. */
export function previewPage({ title, slug, destination, created_at, password_hash }: Link): Response {
  const target =
    password_hash === null
      ? `<p>Redirects to <a href="${escaped(destination)}" rel="noreferrer noopener nofollow">${escaped(destination)}</a></p>`
      : "<p>This link is protected by a password.</p>"
  const day = instantText(created_at).slice(0, 10)
  const body = `${target}<p>Created on <time datetime="${day}">${day}</time></p>`
  return new Response(page(escaped(title || slug), body), { headers: OF_LINKS })
}
