import { argon2, createCipheriv, createDecipheriv } from "node:crypto"
import { closeSync, openSync, readSync, writeSync } from "node:fs"
import { AppError } from "../../domain/error.ts"
import { syncPath } from "../runtime/files.ts"
import type { Random } from "../secrets/secrets.ts"

/** Parameters that derive the key of an encrypted backup from its passphrase. */
export interface SealingTerms {
  kdf: "argon2id"
  salt: string
  memory_kib: number
  passes: number
  /** Text sealed with the key. It shows whether a passphrase is correct before anything is unpacked. */
  check: string
}

const MEMORY_KIB = 65_536
const PASSES = 3
const FRAME = 1 << 20
const NONCE = 12
const TAG = 16
/** First bytes of a sealed file. */
const MAGIC = Buffer.from("FFBK1\n")
const CHECK = Buffer.from("footfall backup")

/** Derives a key from a passphrase, and returns it with the parameters that derive it again. */
export async function newSealing(passphrase: string, random: Random): Promise<{ key: Buffer; terms: SealingTerms }> {
  const salt = Buffer.from(random(16))
  const key = await keyOf(passphrase, { salt: salt.toString("base64"), memory_kib: MEMORY_KIB, passes: PASSES })
  const check = sealFrame(key, "check", 0, true, CHECK, random)
  return {
    key,
    terms: { kdf: "argon2id", salt: salt.toString("base64"), memory_kib: MEMORY_KIB, passes: PASSES, check: check.toString("base64") },
  }
}

/** Derives the key of a backup. Throws `wrong_passphrase`. */
export async function keyFor(passphrase: string | undefined, terms: SealingTerms): Promise<Buffer> {
  if (passphrase === undefined) throw wrongPassphrase()
  const key = await keyOf(passphrase, terms)
  if (!openFrame(key, "check", 0, true, Buffer.from(terms.check, "base64"))?.equals(CHECK)) throw wrongPassphrase()
  return key
}

/**
 * Seals a file into another one, in frames of 1 MiB by AES-256-GCM. Each frame authenticates its file name, its number and
 * whether it is the last, so that no frame can be moved, omitted or cut off.
 */
export async function sealFile(key: Buffer, name: string, source: string, target: string, random: Random): Promise<void> {
  await eachFrame(source, FRAME, 0, target, MAGIC, (frame, number, isLast) => sealFrame(key, name, number, isLast, frame, random))
  syncPath(target)
}

/** Opens a sealed file into another one. Throws `backup_corrupt` for a modified file. */
export async function openSealedFile(key: Buffer, name: string, source: string, target: string): Promise<void> {
  refuseOther(source)
  await eachFrame(source, FRAME + NONCE + TAG, MAGIC.length, target, Buffer.alloc(0), (frame, number, isLast) => {
    const opened = openFrame(key, name, number, isLast, frame)
    if (!opened) throw new AppError("backup_corrupt", `${name} of the backup was modified or truncated.`)
    return opened
  })
  syncPath(target)
}

/** Transforms a file frame by frame. Other work can run in between. */
async function eachFrame(
  source: string,
  size: number,
  start: number,
  target: string,
  head: Uint8Array,
  turn: (frame: Buffer, number: number, isLast: boolean) => Uint8Array,
): Promise<void> {
  const [from, to] = [openSync(source, "r"), openSync(target, "wx", 0o600)]
  try {
    writeSync(to, head)
    let frame = readFrame(from, size, start)
    for (let number = 0; ; number++) {
      const following = readFrame(from, size, start + (number + 1) * size)
      const isLast = following.length === 0
      writeSync(to, turn(frame, number, isLast))
      if (isLast) return
      frame = following
      await Bun.sleep(0)
    }
  } finally {
    closeSync(from)
    closeSync(to)
  }
}

function readFrame(file: number, size: number, position: number): Buffer {
  const frame = Buffer.alloc(size)
  let filled = 0
  for (let read = -1; filled < size && read !== 0; filled += read) read = readSync(file, frame, filled, size - filled, position + filled)
  return frame.subarray(0, filled)
}

function refuseOther(path: string): void {
  const file = openSync(path, "r")
  const head = readFrame(file, MAGIC.length, 0)
  closeSync(file)
  if (!head.equals(MAGIC)) throw new AppError("backup_corrupt", "A file of the backup is not encrypted as its manifest states.")
}

function keyOf(passphrase: string, { salt, memory_kib, passes }: Pick<SealingTerms, "salt" | "memory_kib" | "passes">): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const terms = {
    message: Buffer.from(passphrase.normalize("NFC")),
    nonce: Buffer.from(salt, "base64"),
    parallelism: 1,
    tagLength: 32,
    // A manifest may be untrusted, so the cost is limited to the one we use ourselves.
    memory: Math.min(MEMORY_KIB, Math.max(8, memory_kib)),
    passes: Math.min(PASSES, Math.max(1, passes)),
  }
  argon2("argon2id", terms, (error, key) => (error ? reject(error) : resolve(Buffer.from(key))))
  return promise
}

const aboutFrame = (name: string, number: number, isLast: boolean) => Buffer.from(JSON.stringify([name, number, isLast]))

function sealFrame(key: Buffer, name: string, number: number, isLast: boolean, plain: Uint8Array, random: Random): Buffer {
  const nonce = random(NONCE)
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aboutFrame(name, number, isLast))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, text, cipher.getAuthTag()])
}

function openFrame(key: Buffer, name: string, number: number, isLast: boolean, sealed: Buffer): Buffer | undefined {
  if (sealed.length < NONCE + TAG) return undefined
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE))
  decipher.setAAD(aboutFrame(name, number, isLast)).setAuthTag(sealed.subarray(-TAG))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE, -TAG)), decipher.final()])
  } catch {
    return undefined // the authentication tag does not match
  }
}

const wrongPassphrase = () => new AppError("wrong_passphrase", "The passphrase does not open this backup.")
