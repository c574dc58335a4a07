import { join } from "node:path"

/** Creates a self-signed certificate for the given names. */
export async function certificateFor(folder: string, ...names: string[]): Promise<{ key: string; cert: string }> {
  const key = join(folder, `${names[0]}.key`)
  const cert = join(folder, `${names[0]}.crt`)
  const alternatives = `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}`
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
  const run = Bun.spawnSync(["openssl", ...words, "-keyout", key, "-out", cert, "-subj", `/CN=${names[0]}`, "-addext", alternatives])
  if (!run.success) throw new Error(run.stderr.toString())
  return { key: await Bun.file(key).text(), cert: await Bun.file(cert).text() }
}

export const noOpenssl = Bun.which("openssl") === null
