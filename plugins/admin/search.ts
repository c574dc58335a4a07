import { type ArgumentReader, caseKey } from "#plugin"

const CHARS = { min: 0, max: 200 }

/** `q` of a list of the console: whether one of a row's texts has it somewhere, in whatever case. Without one every row fits. */
export function readSearch(reader: ArgumentReader): (texts: readonly (string | null)[]) => boolean {
  const part = caseKey(reader.text("q", CHARS) ?? "")
  return (texts) => part === "" || texts.some((text) => text !== null && caseKey(text).includes(part))
}
