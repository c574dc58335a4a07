import { useRef } from "preact/hooks"

export interface Tab<Id extends string = string> {
  id: Id
  label: string
}

interface TabsProps<Id extends string> {
  /** What the tabs choose between, for assistive technology. */
  label: string
  tabs: readonly Tab<Id>[]
  chosen: Id
  onChoose(id: Id): void
  /** Id of the element they change. */
  panel: string
}

/** The ARIA pattern of tabs: one stop of the Tab key, arrows move and choose. */
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
