/** Text that strangers wrote is shown as it is, and nothing else happens with it. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** Control characters and those that turn the direction of text become visible: `␀`, `⟨U+202E⟩`. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`
  })

/** The address, if it leads to a web page. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text)
  return url && (url.protocol === "https:" || url.protocol === "http:") ? url.href : undefined
}

/** Cut in two so that the end of a path stays readable when there is no room for the whole. */
export function cutParts(text: string): readonly [start: string, end: string] {
  const slash = text.replace(/\/$/, "").lastIndexOf("/")
  return slash > 0 && text.length - slash <= 40 ? [text.slice(0, slash), text.slice(slash)] : [text, ""]
}
