import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

/** Renders a part of an account section under its own heading. */
export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  const id = useId()
  return (
    <section class="stack part" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}
