/** Safe display of text from visitors. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for control characters
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** Replaces control characters and those that change the text direction by visible escapes: `␀`, `⟨U+202E⟩`. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`
  })

/** Returns the URL if it is an http or https URL. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text)
  return url && (url.protocol === "https:" || url.protocol === "http:") ? url.href : undefined
}

/** Splits a text so that the end of a path can stay visible when space is short. */
function cutParts(text: string): readonly [start: string, end: string] {
  const slash = text.replace(/\/$/, "").lastIndexOf("/")
  return slash > 0 && text.length - slash <= 40 ? [text.slice(0, slash), text.slice(slash)] : [text, ""]
}

/** Text from visitors on one line. If space is short, the last part of a path stays visible. The title has the full text. */
export function TruncatedText({ text }: { text: string }) {
  const shown = visible(text)
  const [start, end] = cutParts(shown)
  return (
    <span class="cut" title={shown}>
      <span>{start}</span>
      {end && <span>{end}</span>}
    </span>
  )
}
