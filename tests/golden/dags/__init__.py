"""Small DAGs, and what condor_dag_checker 25.14 says of them."""
