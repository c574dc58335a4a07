import type { ComponentChildren } from "preact"
import { useLayoutEffect } from "preact/hooks"
import { Mark } from "../../parts/icon.tsx"

/** Renders the one-column frame of every page before the dashboard. */
export function AccessPage({ title, children }: { title: string; children: ComponentChildren }) {
  useLayoutEffect(() => {
    document.title = `${title} · Footfall`
    // Browsers honour `autofocus` only once per document, so later pages focus their field here.
    document.querySelector<HTMLElement>("#main [autofocus]")?.focus()
  }, [title])
  return (
    <main class="narrow-page" id="main">
      <p class="mark">
        <Mark />
        Footfall
      </p>
      <h1>{title}</h1>
      {children}
    </main>
  )
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$|\.localhost$/

/** Warns that the page was not loaded over HTTPS. Renders nothing over HTTPS or on a loopback address. */
export const InsecureNotice = () =>
  location.protocol === "https:" || LOOPBACK.test(location.hostname) ? null : (
    <div class="notice" data-kind="warn" role="note">
      This page was loaded over plain HTTP, so others on the network can read what you type. Set up HTTPS in front of Footfall and open it
      at that URL.
    </div>
  )
