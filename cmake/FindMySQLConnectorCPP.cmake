# MySQL Connector/C++ 1.1 (the JDBC-like one), which brings no CMake file of its own.
# Gives the target MySQLConnectorCPP::MySQLConnectorCPP.
find_path(MySQLConnectorCPP_INCLUDE_DIR cppconn/driver.h)
find_library(MySQLConnectorCPP_LIBRARY mysqlcppconn)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MySQLConnectorCPP
  REQUIRED_VARS MySQLConnectorCPP_LIBRARY MySQLConnectorCPP_INCLUDE_DIR)

if(MySQLConnectorCPP_FOUND AND NOT TARGET MySQLConnectorCPP::MySQLConnectorCPP)
  add_library(MySQLConnectorCPP::MySQLConnectorCPP UNKNOWN IMPORTED)
  set_target_properties(MySQLConnectorCPP::MySQLConnectorCPP PROPERTIES
    IMPORTED_LOCATION "${MySQLConnectorCPP_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${MySQLConnectorCPP_INCLUDE_DIR}")
endif()
mark_as_advanced(MySQLConnectorCPP_INCLUDE_DIR MySQLConnectorCPP_LIBRARY)
