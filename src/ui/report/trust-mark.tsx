import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

interface TrustMarkProps {
  /** Text of the mark, one glyph or a few words. */
  mark: string
  /** Explanation, shown on focus and hover and in the accessible description. */
  children: ComponentChildren
  /** Called on a click. */
  onOpen?: () => void
}

/** A mark next to a figure that explains its limits. */
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
