import type { ComponentChildren } from "preact"
import { useLayoutEffect } from "preact/hooks"
import { Mark } from "../../parts/mark.tsx"

/** The frame of every page before the dashboard: one column. */
export function AccessPage({ title, children }: { title: string; children: ComponentChildren }) {
  useLayoutEffect(() => {
    document.title = `${title} · Footfall`
    // The attribute alone works once in the life of a document.
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

/** What is typed here can be read on its way. */
export const InsecureNotice = () =>
  location.protocol === "https:" || LOOPBACK.test(location.hostname) ? null : (
    <div class="notice" data-kind="warn" role="note">
      This page came over plain HTTP: others on the way can read what you type. Put https in front of Footfall first, and open it under that
      address.
    </div>
  )
