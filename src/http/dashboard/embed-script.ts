/** Path of the script that pages with an embedded share load. */
export const EMBED_SCRIPT_PATH = "/share/embed.js"

/**
 * Gives each embedded share the height that it reports. The page that embeds it can have a strict content security policy: the height is an
 * attribute, not a style.
 */
const SCRIPT = `addEventListener("message", ({ data, origin, source }) => {
  if (typeof data !== "object" || data === null || data.type !== "footfall:height" || !Number.isFinite(data.height)) return
  for (const frame of document.querySelectorAll("iframe[data-footfall]"))
    if (frame.contentWindow === source && new URL(frame.src).origin === origin)
      frame.height = String(Math.min(Math.max(Math.round(data.height), 50), 20000))
})
`

/** Returns the script. Pages of any origin can load it. */
export const embedScript = (headers: Readonly<Record<string, string>>): Response =>
  new Response(SCRIPT, {
    headers: {
      ...headers,
      "content-type": "text/javascript; charset=utf-8",
      "cross-origin-resource-policy": "cross-origin",
      "cache-control": "public, max-age=3600",
    },
  })
