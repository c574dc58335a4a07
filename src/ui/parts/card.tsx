import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import { type Tab, Tabs } from "./tabs.tsx"

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
