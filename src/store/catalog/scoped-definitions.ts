/** Segments and annotations: definitions of a site that are shared with its members or belong to one user (`scope`). */
import type { Annotation, AnnotationFields, ScopedAnnotationFields } from "../../domain/annotation.ts"
import type { Segment, SegmentFields, SegmentFilter } from "../../domain/segment.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const SEGMENT = sql`id, site_id, scope, owner_user_id, name, filters_json, created_at, updated_at, version`
type SegmentRow = Omit<Segment, "filters"> & { filters_json: string }

export async function insertSegment(
  catalog: Statements,
  siteId: number,
  { name, scope, filters }: SegmentFields,
  ownerId: number | null,
  now: number,
): Promise<Segment> {
  const row = await catalog.get<SegmentRow>(sql`
    insert into segments (site_id, scope, owner_user_id, name, filters_json, created_at, updated_at)
    values (${siteId}, ${scope}, ${ownerId}, ${name}, ${JSON.stringify(filters)}, ${now}, ${now})
    returning ${SEGMENT}`)
  return toSegment(row!) // an insert that returns has a row
}

/** Lists the shared segments of a site and a user's own after an id, by id ascending. */
export async function listSegments(
  catalog: Statements,
  siteId: number,
  userId: number | null,
  { after, limit }: Slice,
): Promise<Segment[]> {
  const rows = await catalog.all<SegmentRow>(sql`
    select ${SEGMENT} from segments
    where site_id = ${siteId} and id > ${after} and (scope = 'site' or owner_user_id = ${userId})
    order by id limit ${limit}`)
  return rows.map(toSegment)
}

/** Lists the segments of all sites and owners after an id, by id ascending. */
export async function listAllSegments(catalog: Statements, { after, limit }: Slice): Promise<Segment[]> {
  const rows = await catalog.all<SegmentRow>(sql`select ${SEGMENT} from segments where id > ${after} order by id limit ${limit}`)
  return rows.map(toSegment)
}

/** Lists the segments of a site after an id, the personal ones of all users included, by id ascending. */
export async function listSegmentsOf(catalog: Statements, siteId: number, { after, limit }: Slice): Promise<Segment[]> {
  const rows = await catalog.all<SegmentRow>(sql`
    select ${SEGMENT} from segments where site_id = ${siteId} and id > ${after} order by id limit ${limit}`)
  return rows.map(toSegment)
}

export async function segmentById(catalog: Statements, siteId: number, id: number): Promise<Segment | undefined> {
  const row = await catalog.get<SegmentRow>(sql`select ${SEGMENT} from segments where site_id = ${siteId} and id = ${id}`)
  return row && toSegment(row)
}

export async function countSegments(catalog: Statements, siteId: number): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`select count(*) as n from segments where site_id = ${siteId}`)
  return row!.n // a count has a row
}

export async function updateSegment(
  catalog: Statements,
  id: number,
  { name, scope, filters }: SegmentFields,
  ownerId: number | null,
  now: number,
): Promise<Segment> {
  const row = await catalog.get<SegmentRow>(sql`
    update segments set
      name = ${name}, scope = ${scope}, owner_user_id = ${ownerId}, filters_json = ${JSON.stringify(filters)}, updated_at = ${now},
      version = version + 1
    where id = ${id}
    returning ${SEGMENT}`)
  return toSegment(row!) // the caller has seen the segment in this transaction
}

export const deleteSegment = (catalog: Statements, id: number): Promise<void> => catalog.run(sql`delete from segments where id = ${id}`)

const toSegment = ({ filters_json, ...row }: SegmentRow): Segment => ({
  ...row,
  filters: JSON.parse(filters_json) as SegmentFilter[], // written here
})

const ANNOTATION = sql`id, site_id, at, text, scope, owner_user_id, created_at, updated_at, version`

export async function insertAnnotation(
  catalog: Statements,
  siteId: number,
  { at, text }: AnnotationFields,
  now: number,
): Promise<Annotation> {
  const row = await catalog.get<Annotation>(sql`
    insert into annotations (site_id, at, text, created_at, updated_at)
    values (${siteId}, ${at}, ${text}, ${now}, ${now})
    returning ${ANNOTATION}`)
  return row! // an insert that returns has a row
}

/** Inserts an annotation that a user owns, shared or personal. */
export async function insertScopedAnnotation(
  catalog: Statements,
  siteId: number,
  { at, text, scope }: ScopedAnnotationFields,
  ownerId: number | null,
  now: number,
): Promise<Annotation> {
  const row = await catalog.get<Annotation>(sql`
    insert into annotations (site_id, at, text, scope, owner_user_id, created_at, updated_at)
    values (${siteId}, ${at}, ${text}, ${scope}, ${ownerId}, ${now}, ${now})
    returning ${ANNOTATION}`)
  return row! // an insert that returns has a row
}

/** Lists the shared annotations of a site after an id, by id ascending. */
export const listAnnotations = (catalog: Statements, siteId: number, { after, limit }: Slice): Promise<Annotation[]> =>
  catalog.all(sql`
    select ${ANNOTATION} from annotations where site_id = ${siteId} and id > ${after} and scope = 'site' order by id limit ${limit}`)

/** Lists the shared annotations of a site and a user's own after an id, by id ascending. */
export const listScopedAnnotations = (
  catalog: Statements,
  siteId: number,
  userId: number | null,
  { after, limit }: Slice,
): Promise<Annotation[]> =>
  catalog.all(sql`
    select ${ANNOTATION} from annotations
    where site_id = ${siteId} and id > ${after} and (scope = 'site' or owner_user_id = ${userId})
    order by id limit ${limit}`)

/** Returns a shared annotation of a site. */
export const annotationById = (catalog: Statements, siteId: number, id: number): Promise<Annotation | undefined> =>
  catalog.get(sql`select ${ANNOTATION} from annotations where site_id = ${siteId} and id = ${id} and scope = 'site'`)

/** Returns an annotation of a site, shared or personal. */
export const scopedAnnotationById = (catalog: Statements, siteId: number, id: number): Promise<Annotation | undefined> =>
  catalog.get(sql`select ${ANNOTATION} from annotations where site_id = ${siteId} and id = ${id}`)

export async function countAnnotations(catalog: Statements, siteId: number): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`select count(*) as n from annotations where site_id = ${siteId}`)
  return row!.n // a count has a row
}

export async function updateAnnotation(catalog: Statements, id: number, { at, text }: AnnotationFields, now: number): Promise<Annotation> {
  const row = await catalog.get<Annotation>(sql`
    update annotations set at = ${at}, text = ${text}, updated_at = ${now}, version = version + 1
    where id = ${id}
    returning ${ANNOTATION}`)
  return row! // the caller has seen the annotation in this transaction
}

export async function updateScopedAnnotation(
  catalog: Statements,
  id: number,
  { at, text, scope }: ScopedAnnotationFields,
  ownerId: number | null,
  now: number,
): Promise<Annotation> {
  const row = await catalog.get<Annotation>(sql`
    update annotations set
      at = ${at}, text = ${text}, scope = ${scope}, owner_user_id = ${ownerId}, updated_at = ${now}, version = version + 1
    where id = ${id}
    returning ${ANNOTATION}`)
  return row! // the caller has seen the annotation in this transaction
}

export const deleteAnnotation = (catalog: Statements, id: number): Promise<void> =>
  catalog.run(sql`delete from annotations where id = ${id}`)
