import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

interface TrustMarkProps {
  /** One glyph or two words. */
  mark: string
  /** What it means here; shown on focus and hover, and read with the mark. */
  children: ComponentChildren
  /** Where a click leads. */
  onOpen?: () => void
}

/** Says next to a figure what a reader must know of it. */
export function TrustMark({ mark, children, onOpen }: TrustMarkProps) {
  const id = useId()
  return (
    <span class="trust">
      <button type="button" class="trust-mark" aria-describedby={id} onClick={onOpen}>
        {mark}
      </button>
      <span role="tooltip" id={id} class="trust-text">
        {children}
      </span>
    </span>
  )
}
