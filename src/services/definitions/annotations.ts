import {
  type Annotation,
  type AnnotationFields,
  annotationDay,
  annotationNotFound,
  parseAnnotation,
  parseScopedAnnotation,
  patchAnnotation,
  patchScopedAnnotation,
  type ScopedAnnotationFields,
} from "../../domain/annotation.ts"
import type { Clock } from "../../domain/clock.ts"
import { THINGS } from "../../domain/limits.ts"
import type { Site } from "../../domain/site.ts"
import type { Catalog, Slice } from "../../store/catalog/catalog.ts"
import {
  annotationById,
  countAnnotations,
  deleteAnnotation,
  insertAnnotation,
  insertScopedAnnotation,
  listAnnotations,
  listScopedAnnotations,
  scopedAnnotationById,
  updateAnnotation,
  updateScopedAnnotation,
} from "../../store/catalog/scoped-definitions.ts"
import { slicesOf } from "../lists/paging.ts"
import { createSiteThings, createViewedThings, type SiteThings, type ThingKind, type ViewedKind, type Viewer } from "./site-things.ts"

/** Local days, both included. */
export interface Days {
  from: string
  to: string
}

/** Annotations as one user sees them. */
export interface ViewedAnnotations extends SiteThings<Annotation> {
  listWithin(site: Site, days: Days, slice: Slice): Promise<Annotation[]>
}

/** Annotations of a site, and with a viewer also that user's personal ones. */
export interface Annotations extends SiteThings<Annotation> {
  of(viewer: Viewer): ViewedAnnotations
  /** Lists the annotations whose local day lies in a range, by id ascending. */
  listWithin(site: Site, days: Days, slice: Slice): Promise<Annotation[]>
}

export function createAnnotations({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Annotations {
  const viewed = createViewedThings(VIEWED_ANNOTATIONS, { catalog, clock })
  const things = createSiteThings(ANNOTATIONS, { catalog, clock })
  return {
    ...things,
    listWithin: within(things),
    of(viewer) {
      const own = viewed(viewer)
      return { ...own, listWithin: within(own) }
    },
  }
}

const within =
  ({ list }: Pick<SiteThings<Annotation>, "list">): ViewedAnnotations["listWithin"] =>
  async (site, { from, to }, { after, limit }) => {
    const found: Annotation[] = []
    for await (const slice of slicesOf((part) => list(site, part), after)) {
      for (const annotation of slice) {
        const day = annotationDay(annotation, site.timezone)
        if (from <= day && day <= to) found.push(annotation)
        if (found.length === limit) return found
      }
    }
    return found
  }

const ANNOTATIONS: ThingKind<Annotation, AnnotationFields> = {
  resource: "annotations",
  limit: THINGS.annotations,
  parse: parseAnnotation,
  patch: patchAnnotation,
  notFound: annotationNotFound,
  insert: insertAnnotation,
  byId: annotationById,
  list: listAnnotations,
  count: countAnnotations,
  update: updateAnnotation,
  delete: deleteAnnotation,
}

const VIEWED_ANNOTATIONS: ViewedKind<Annotation, ScopedAnnotationFields> = {
  resource: "annotations",
  limit: THINGS.annotations,
  permission: "annotations:write",
  parse: parseScopedAnnotation,
  patch: patchScopedAnnotation,
  notFound: annotationNotFound,
  insert: insertScopedAnnotation,
  byId: scopedAnnotationById,
  list: listScopedAnnotations,
  count: countAnnotations,
  update: updateScopedAnnotation,
  delete: deleteAnnotation,
}
