import { useEffect } from "preact/hooks"
import { boot } from "../../api/session.ts"

/** Returns whether a page of a share is embedded in another page, or looks as if. Then it has no frame of its own. */
export const isEmbedded = (): boolean => window.self !== window.top || new URLSearchParams(location.search).get("embed") === "1"

/** Parameters in the URL of a share that stay when its period or filters change. */
export const SHARE_PARAMETERS: readonly string[] = ["embed", "theme"]

const THEMES = ["auto", "light", "dark"]

/** Returns the theme that the URL asks for, undefined without one. */
export function themeInUrl(): string | undefined {
  const theme = new URLSearchParams(location.search).get("theme")
  return theme !== null && THEMES.includes(theme) ? theme : undefined
}

/**
 * Tells the pages that may embed a share how high it is, whenever that changes, and opens links outside the frame. A browser delivers the
 * message to no other page.
 */
export function useEmbedding(): void {
  useEffect(() => {
    if (window.self === window.top) return
    const base = document.createElement("base")
    base.target = "_blank"
    document.head.append(base)
    const observer = new ResizeObserver(() => {
      const height = Math.ceil(document.body.getBoundingClientRect().height)
      for (const origin of boot.embed_origins ?? []) window.parent.postMessage({ type: "footfall:height", height }, origin)
    })
    observer.observe(document.body)
    return () => {
      observer.disconnect()
      base.remove()
    }
  }, [])
}

/** Returns the HTML that embeds a page of a share. It needs no inline script, so it works under a strict content security policy. */
export function embedSnippet(url: string, title: string): string {
  const quoted = title.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")
  const script = new URL("/share/embed.js", url).href
  return [
    `<iframe src="${url}?embed=1" title="${quoted}" data-footfall width="100%" height="600" loading="lazy" frameborder="0"></iframe>`,
    `<script async src="${script}"></script>`,
  ].join("\n")
}
