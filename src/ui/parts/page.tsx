import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"

interface PageProps {
  /** Heading of the page and first part of the window title. */
  title: string
  /** Buttons next to the heading. */
  actions?: ComponentChildren
  /** Whether the heading is visible to assistive technology only, as on the dashboard. */
  hideTitle?: boolean
  children: ComponentChildren
}

/** The content of a page inside the shell. */
export function Page({ title, actions, hideTitle = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Footfall`
  }, [title])
  return (
    <main class="page" id="main" tabIndex={-1}>
      {hideTitle ? (
        <h1 class="visually-hidden">{title}</h1>
      ) : (
        <div class="page-head">
          <h1>{title}</h1>
          {actions && <div class="row">{actions}</div>}
        </div>
      )}
      {children}
    </main>
  )
}
