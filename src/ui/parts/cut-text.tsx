import { cutParts, visible } from "../text/safe-text.ts"

/** Text from visitors on one line. If space is short, the last part of a path stays visible. The title has the full text. */
export function CutText({ text }: { text: string }) {
  const shown = visible(text)
  const [start, end] = cutParts(shown)
  return (
    <span class="cut" title={shown}>
      <span>{start}</span>
      {end && <span>{end}</span>}
    </span>
  )
}
