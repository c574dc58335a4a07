import { cutParts, visible } from "../safe-text.ts"

/** A stranger's text on one line; of a path the last part stays when there is no room. The whole is its title. */
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
