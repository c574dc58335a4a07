import { unzipSync } from "fflate"
import type { TestInstance } from "../kit.ts"

/** Downloads the archive of a site's data as its owner does. Returns the contents by file name. */
export async function archiveOf(instance: TestInstance): Promise<Record<string, string>> {
  const cookie = await instance.signIn({ role: "owner" })
  const begun = await instance.api.post("/api/private/sites/1/takeout", undefined, undefined, { cookie })
  await instance.app.instance.jobs.drain()
  const response = await instance.fetch(new Request(`http://localhost${begun.headers.get("location")}/file`, { headers: { cookie } }))
  if (response.status !== 200) throw new Error(`There is no archive: ${response.status} ${await response.text()}`)
  const files = unzipSync(await response.bytes())
  return Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]))
}

/** Parses a file with one JSON object per line. */
// biome-ignore lint/suspicious/noExplicitAny: the tests check the content of the lines
export const archiveLines = (text: string | undefined): any[] =>
  (text ?? "")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
