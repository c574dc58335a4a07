import { useRef } from "preact/hooks"

export interface Tab<Id extends string = string> {
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
