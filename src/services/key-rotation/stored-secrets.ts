import type { Clock } from "../../domain/clock.ts"
import { instantText } from "../../domain/moment.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { deleteSecret, insertSecret, secretById, updateSecret } from "../../store/catalog/secrets.ts"
import type { SecretPlace, Secrets } from "../secrets/secrets.ts"

/** The description of a secret in API responses, without the secret. */
export interface ShownSecret {
  set: boolean
  /** The last four characters, if the secret has at least 12. */
  hint?: string
  updated_at?: string
}

/** Encrypted values of one owner. Each is bound to the row it belongs to and cannot be decrypted for another row. */
export interface StoredSecrets {
  /** Stores a secret in the transaction of the row that refers to it. Returns its id. */
  put(statements: Statements, place: SecretPlace, text: string): Promise<number>
  replace(statements: Statements, id: number, text: string): Promise<void>
  /** Decrypts a secret. Returns undefined if it does not exist or the instance's key is lost: then it must be entered again. */
  open(id: number): Promise<string | undefined>
  shown(id: number | null, statements?: Statements): Promise<ShownSecret>
  remove(statements: Statements, id: number): Promise<void>
}

interface StoredSecretsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  secrets: Secrets
}

const MIN_HINTED_CHARACTERS = 12

/** Creates the store of an owner's secrets. `owner` is `core` or the id of a plugin; an owner cannot read the secrets of others. */
export function storedSecrets({ catalog, clock, secrets }: StoredSecretsOptions, owner: string): StoredSecrets {
  const sealed = (place: SecretPlace, text: string) => ({
    sealed: secrets.seal(new TextEncoder().encode(text), place),
    hint: text.length >= MIN_HINTED_CHARACTERS ? text.slice(-4) : null,
  })
  async function find(statements: Statements, id: number) {
    const row = await secretById(statements, owner, id)
    return row && { row, place: { table: row.place_table, row: row.place_row, purpose: row.purpose } }
  }
  return {
    put: (statements, { table, row, purpose }, text) => {
      const place = { table, row: String(row), purpose }
      const fields = { owner, place_table: table, place_row: place.row, purpose, created_at: clock.now() }
      return insertSecret(statements, { ...fields, ...sealed(place, text) })
    },
    async replace(statements, id, text) {
      const found = await find(statements, id)
      if (!found) throw new Error(`There is no secret ${id} of ${owner}`)
      await updateSecret(statements, id, { ...sealed(found.place, text), at: clock.now() })
    },
    async open(id) {
      const found = await find(catalog, id)
      const bytes = found && secrets.open(found.row.sealed, found.place)
      return bytes && new TextDecoder().decode(bytes)
    },
    async shown(id, statements = catalog) {
      const found = id === null ? undefined : await find(statements, id)
      if (!found) return { set: false }
      const { hint, created_at, rotated_at } = found.row
      return { set: true, ...(hint !== null && { hint: `…${hint}` }), updated_at: instantText(rotated_at ?? created_at) }
    },
    remove: (statements, id) => deleteSecret(statements, owner, id),
  }
}
