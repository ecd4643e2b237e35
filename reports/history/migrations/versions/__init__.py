"""The revisions. One that was released is never changed."""
