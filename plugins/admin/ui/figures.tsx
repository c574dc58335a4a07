import type { ComponentChildren } from "preact"
import { Link } from "wouter"

export interface Figure {
  label: string
  /** Undefined while it is not known. */
  value: ComponentChildren
  note?: ComponentChildren
  /** Where it is told in full. */
  href?: string
}

/** Numbers side by side; each leads to the page that tells it in full. */
export const Figures = ({ label, figures }: { label: string; figures: readonly Figure[] }) => (
  <dl class="instrument strip strip-alone" aria-label={label}>
    {figures.map(({ label: name, value, note, href }) => (
      <div class="figure" key={name}>
        <dt class="figure-label">{href === undefined ? name : <Link href={href}>{name}</Link>}</dt>
        <dd>
          <span class="figure-value">{value ?? "–"}</span>
          <span class="figure-note">{note}</span>
        </dd>
      </div>
    ))}
  </dl>
)
