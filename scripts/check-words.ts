/**
 * Refuses words that hide what a thing is: `session` where visits are meant, and folders or files that could hold anything
 * (style.md section 4).
 */
import { Glob } from "bun"

/** Traffic is made of visits there; a session is a signed-in person. Other products' payloads keep their own words. */
const NO_SESSION = /^src\/(query|store\/events|ingest(?!\/payloads\/))\//
const NAMELESS = /^(utils?|helpers?|common|managers?)$/i

const faults: string[] = []
for await (const file of new Glob("{src,plugins,config,scripts,test}/**/*").scan(".")) {
  const names = file.split("/").map((part) => part.replace(/\..*$/, ""))
  const nameless = names.find((name) => NAMELESS.test(name))
  if (nameless) faults.push(`${file}: "${nameless}" says nothing; name the idea`)
  if (!NO_SESSION.test(file) || !/\.(ts|sql)$/.test(file)) continue
  const lines = (await Bun.file(file).text()).split("\n")
  lines.forEach((line, index) => {
    if (/session/i.test(line)) faults.push(`${file}:${index + 1}: say visit; a session is a signed-in person`)
  })
}
for (const fault of faults.sort()) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)
