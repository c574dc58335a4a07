import { bySize } from "#plugin/test"

type Look = readonly [width: number, theme: "light" | "dark"]
const SAMPLE: readonly Look[] = [
  [1280, "light"],
  [375, "dark"],
]
const ALL: readonly Look[] = [...SAMPLE, [1280, "dark"], [375, "light"]]

/** Widths and themes in which screens are looked at. */
export const LOOKS = bySize({ check: SAMPLE, full: ALL, release: ALL })
