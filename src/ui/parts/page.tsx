import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import { Link } from "wouter"

interface PageProps {
  /** Heading of the page and first part of the window title. */
  title: string
  /** Content directly after the heading, such as a menu of similar pages. */
  beside?: ComponentChildren
  /** Buttons at the end of the line of the heading. */
  actions?: ComponentChildren
  /** The page that lists this one and others like it. */
  parent?: { href: string; label: string }
  /** Whether the heading is visible to assistive technology only, as on the dashboard. */
  hideTitle?: boolean
  children: ComponentChildren
}

/** The content of a page inside the shell. */
export function Page({ title, beside, actions, parent, hideTitle = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Footfall`
  }, [title])
  return (
    <main class="page" id="main" tabIndex={-1}>
      {hideTitle ? (
        <h1 class="visually-hidden">{title}</h1>
      ) : (
        <div class="page-head">
          {parent && (
            <p class="page-parent">
              <Link href={parent.href}>{parent.label}</Link>
            </p>
          )}
          <h1>{title}</h1>
          {beside}
          {actions && <div class="row">{actions}</div>}
        </div>
      )}
      {children}
    </main>
  )
}

interface CardProps<Id extends string> {
  title: string
  tabs?: readonly Tab<Id>[]
  chosen?: Id
  onChoose?(id: Id): void
  /** Content next to the title. */
  marks?: ComponentChildren
  foot?: ComponentChildren
  /** Whether the card spans both columns. */
  full?: boolean
  children: ComponentChildren
}

/** A box on a page with title, tabs, content and footer. */
export function Card<Id extends string>({ title, tabs, chosen, onChoose, marks, foot, full = false, children }: CardProps<Id>) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={`${id}-title`} data-full={full || undefined}>
      <div class="card-head">
        <div class="row">
          <h2 id={`${id}-title`}>{title}</h2>
          {marks}
        </div>
        {tabs && chosen !== undefined && onChoose && (
          <Tabs label={title} tabs={tabs} chosen={chosen} onChoose={onChoose} panel={`${id}-body`} />
        )}
      </div>
      <div id={`${id}-body`} {...(tabs && { role: "tabpanel" as const, "aria-label": tabs.find((tab) => tab.id === chosen)?.label })}>
        {children}
      </div>
      {foot && <div class="card-foot">{foot}</div>}
    </section>
  )
}

interface Tab<Id extends string = string> {
  id: Id
  label: string
}

interface TabsProps<Id extends string> {
  /** Accessible name of the tab list. */
  label: string
  tabs: readonly Tab<Id>[]
  chosen: Id
  onChoose(id: Id): void
  /** Id of the tab panel. */
  panel: string
}

/** Tabs by the ARIA pattern: one tab stop, arrow keys move and select. */
export function Tabs<Id extends string>({ label, tabs, chosen, onChoose, panel }: TabsProps<Id>) {
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent) => {
    const here = tabs.findIndex(({ id }) => id === chosen)
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = tabs.at(to % tabs.length)!
    onChoose(next.id)
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[tabs.indexOf(next)]?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          class="tab"
          aria-selected={tab.id === chosen}
          aria-controls={panel}
          tabIndex={tab.id === chosen ? 0 : -1}
          onClick={() => onChoose(tab.id)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  )
}
