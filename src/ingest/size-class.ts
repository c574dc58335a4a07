const CLASSES: readonly (readonly [below: number, name: string])[] = [
  [576, "<576"],
  [768, "576-767"],
  [992, "768-991"],
  [1440, "992-1439"],
]

/** The class of a viewport width in pixels; the width itself is not kept. "" when unknown. */
export function sizeClass(width: number | undefined): string {
  if (width === undefined || !(width > 0)) return ""
  return CLASSES.find(([below]) => width < below)?.[1] ?? "1440+"
}
