import { unzipSync } from "fflate"
import type { TestInstance } from "../kit.ts"

/** What a site takes out, by the names of the files: the archive as its owner downloads it. */
export async function archiveOf(instance: TestInstance): Promise<Record<string, string>> {
  const cookie = await instance.signIn({ role: "owner" })
  const begun = await instance.api.post("/api/private/sites/1/takeout", undefined, undefined, { cookie })
  await instance.app.instance.jobs.drain()
  const response = await instance.fetch(new Request(`http://localhost${begun.headers.get("location")}/file`, { headers: { cookie } }))
  if (response.status !== 200) throw new Error(`There is no archive: ${response.status} ${await response.text()}`)
  const files = unzipSync(await response.bytes())
  return Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]))
}

/** Objects of a file with one a line. */
// biome-ignore lint/suspicious/noExplicitAny: the tests look at what lines hold
export const archiveLines = (text: string | undefined): any[] =>
  (text ?? "")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
